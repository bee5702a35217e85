// Command fetch puts the kernels that the tests of package kernel boot into the
// user's cache folder. It needs Debian's apt and the network, and does nothing
// if they are there.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/tidestaff/tidestaff/internal/e2e/kernel"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	for _, image := range kernel.Images {
		name, err := image.Fetch(ctx)
		if err != nil {
			fmt.Fprintln(os.Stderr, "fetch:", err)
			os.Exit(1)
		}
		fmt.Println(name)
	}
}

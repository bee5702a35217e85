package kernel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// keyring signs for all releases of Debian, the next ones included.
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// download fetches the package of the suite's newest cloud kernel into dir and
// returns its file. Point releases disappear from the mirrors when the next one
// comes, so the meta package is asked for the present name.
func (i Image) download(ctx context.Context, dir string) (string, error) {
	apt, err := newApt(ctx, dir, i.Suite)
	if err != nil {
		return "", err
	}
	if _, err := apt.run(ctx, "apt-get", "-q", "update"); err != nil {
		return "", err
	}
	depends, err := apt.run(ctx, "apt-cache", "depends", metaPackage)
	if err != nil {
		return "", err
	}
	_, after, _ := strings.Cut(depends, "Depends: ")
	name, _, ok := strings.Cut(after, "\n")
	if !ok {
		return "", fmt.Errorf("%s depends on nothing:\n%s", metaPackage, depends)
	}
	if _, err := apt.run(ctx, "apt-get", "-q", "download", name); err != nil {
		return "", err
	}
	found, err := filepath.Glob(filepath.Join(dir, name+"_*.deb"))
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("apt-get download %s left no file", name)
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// An apt is apt with one suite of Debian as its only source, whatever release
// the machine has, and with all that it writes in one folder.
type apt struct {
	dir     string
	options []string
}

func newApt(ctx context.Context, dir, suite string) (*apt, error) {
	mirror, err := mirror(ctx)
	if err != nil {
		return nil, err
	}
	for _, sub := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	list := filepath.Join(dir, "sources.list")
	line := fmt.Sprintf("deb [arch=amd64 signed-by=%s] %s %s main\n", keyring, mirror, suite)
	if err := os.WriteFile(list, []byte(line), 0o644); err != nil {
		return nil, err
	}
	a := &apt{dir: dir}
	for _, o := range []string{
		"Dir::Etc::SourceList=" + list,
		"Dir::Etc::SourceParts=/dev/null",
		"Dir::State::Lists=" + filepath.Join(dir, "lists"),
		"Dir::Cache=" + filepath.Join(dir, "cache"),
		"Acquire::Languages=none",
		"APT::Architecture=amd64",
		// As root apt would fetch as a user that cannot write into our folder.
		"APT::Sandbox::User=root",
	} {
		a.options = append(a.options, "-o", o)
	}
	return a, nil
}

// run runs one of apt's programs and returns what it printed.
func (a *apt) run(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, append(a.options, args...)...)
	cmd.Dir = a.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out), nil
}

// mirror is where this machine gets Debian from. The archives of security
// updates and of other vendors are other ones.
func mirror(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "apt-get", "indextargets",
		"--no-release-info", // which a machine that never ran `apt-get update` does not have
		"--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("apt-get indextargets: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		uri, release, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasSuffix(strings.TrimSuffix(uri, "/"), "/debian") && !strings.Contains(release, "-") {
			return uri, nil
		}
	}
	return "", errors.New("apt has no source that is a mirror of Debian")
}

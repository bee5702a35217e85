package lagload

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// childEnv holds what a child is to do: "send ADDRESS PERIOD" or
// "request ADDRESS CLIENTS".
const childEnv = "TIDESTAFF_LAGLOAD_CHILD"

// Main is called at the very beginning of a program that runs a [Study]. In a
// child that the study has started it does the child's work and ends the
// process; in any other process it returns at once.
func Main() {
	task := os.Getenv(childEnv)
	if task == "" {
		return
	}
	go func() { // the parent holds the other end for as long as it lives
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	err := work(strings.Fields(task))
	fmt.Fprintln(os.Stderr, "lagload: child:", err)
	os.Exit(1)
}

// work does the child's task, until it fails or the parent ends the process.
func work(task []string) error {
	if len(task) == 3 && task[0] == "send" {
		period, err := time.ParseDuration(task[2])
		if err != nil {
			return err
		}
		return send(task[1], period)
	}
	if len(task) == 3 && task[0] == "request" {
		var clients int
		if _, err := fmt.Sscan(task[2], &clients); err != nil {
			return err
		}
		return request(task[1], clients)
	}
	return fmt.Errorf("unknown task %q", task)
}

// A child is a process that works for a study.
type child struct {
	cmd   *exec.Cmd
	stdin io.Closer
}

// startChild starts this program again, with a task.
func startChild(task string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(self)}
	c.cmd.Env = append(os.Environ(), childEnv+"="+task)
	c.cmd.Stderr = os.Stderr
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a child for %q: %w", task, err)
	}
	return c, nil
}

// end lets the child end and waits for it.
func (c *child) end() {
	_ = c.stdin.Close()
	_ = c.cmd.Wait() // its error, if any, it has written itself
}

// messageSize is a message's: the time at which it was sent.
const messageSize = 8

// send sends its time at a random moment of every period. The moments are
// absolute, so that they do not depend on how late the last one was.
func send(address string, period time.Duration) error {
	c, err := newClock()
	if err != nil {
		return err
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	var message [messageSize]byte
	for begin := probe.Now(); ; begin += int64(period) {
		at := begin + rand.Int64N(int64(period))
		time.Sleep(time.Duration(at - probe.Now()))
		binary.LittleEndian.PutUint64(message[:], uint64(c.now()))
		if _, err := conn.Write(message[:]); err != nil {
			return err
		}
	}
}

// request is some clients that each ask again as soon as they have been answered.
func request(address string, clients int) error {
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	client := &http.Client{Transport: transport}
	var wg sync.WaitGroup
	failed := make(chan error, clients)
	for range clients {
		wg.Go(func() {
			for {
				answer, err := client.Get("http://" + address + "/")
				if err != nil {
					failed <- err
					return
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
			}
		})
	}
	wg.Wait()
	return <-failed
}

package pgx

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

// A server is a PostgreSQL server on a Unix socket in a folder of its own.
type server struct {
	dir  string
	cmd  *exec.Cmd
	done chan error // of the process, once
	next atomic.Int64
}

// errAbsent says that there is no server to start on this machine.
var errAbsent = errors.New("needs the programs of a PostgreSQL server: apt-get install postgresql")

// theServer is started by the first test that needs it, and stopped by TestMain.
var (
	theServer = sync.OnceValues(start)
	running   *server
)

func TestMain(m *testing.M) {
	code := m.Run()
	if running != nil {
		if err := running.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stop the server:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// needServer gives the server, or skips the test where there is none, which fails
// the steps of .ci/run that come here.
func needServer(t *testing.T) *server {
	t.Helper()
	s, err := theServer()
	if errors.Is(err, errAbsent) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	return s
}

// schema makes an empty schema on the server and returns a dsn that works in it.
func schema(t *testing.T) string {
	t.Helper()
	s := needServer(t)
	name := fmt.Sprint("s", s.next.Add(1))
	dsn := "host='" + s.dir + "' user=tidestaff database=postgres sslmode=disable"
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	return dsn + " search_path=" + name
}

// programs is the folder of initdb and postgres. Debian keeps them out of PATH,
// a folder for each version that is installed.
func programs() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil {
		return "", err
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		found = append(found, path)
	}
	for _, path := range found {
		if _, err := os.Stat(filepath.Join(filepath.Dir(path), "initdb")); err == nil {
			return filepath.Dir(path), nil
		}
	}
	return "", errAbsent
}

// start makes a new cluster in a temporary folder and starts a server on it.
// Nothing is kept, so nothing waits for the disk.
func start() (_ *server, err error) {
	runtime.LockOSThread() // see run
	defer runtime.UnlockOSThread()
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	s := &server{done: make(chan error, 1)}
	if s.dir, err = os.MkdirTemp("", "tidestaff-pg-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(s.dir)
		}
	}()
	data := filepath.Join(s.dir, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "--pgdata", data, "--username=tidestaff", "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--no-sync")
	s.cmd = exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", s.dir, "-h", "", "-F",
		"-c", "max_connections=50", "-c", "lc_messages=C")
	for _, cmd := range []*exec.Cmd{initdb, s.cmd} {
		cmd.Dir = s.dir
		if err := ownedByServer(cmd, s.dir); err != nil {
			return nil, err
		}
	}
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if err := s.run(); err != nil {
		return nil, err
	}
	running = s
	return s, nil
}

// run starts the server and waits until it says that it is ready.
func (s *server) run() error {
	log, err := s.cmd.StderrPipe()
	if err != nil {
		return err
	}
	started := make(chan error)
	go func() {
		// The kernel stops the server when the thread that started it ends, so
		// that it does not outlive a test that is killed; the thread is this
		// goroutine's until then.
		runtime.LockOSThread()
		started <- s.cmd.Start()
		if s.cmd.Process != nil {
			_, err := s.cmd.Process.Wait()
			s.done <- err
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	var said bytes.Buffer
	for lines := bufio.NewScanner(log); lines.Scan(); {
		fmt.Fprintln(&said, lines.Text())
		if strings.Contains(lines.Text(), "ready to accept connections") {
			go io.Copy(io.Discard, log)
			return nil
		}
	}
	return fmt.Errorf("postgres ended at once:\n%s", said.Bytes())
}

// stop asks the server to end, which first ends its connections, and waits.
func (s *server) stop() error {
	defer os.RemoveAll(s.dir)
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return <-s.done
}

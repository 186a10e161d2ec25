// What is no flag is refused; tests/apps/reader_test.py runs the rest against the real writer.

package leaderflag

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatIsNoFlagIsNotTakenForOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page")
	if _, err := Open(path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("x", 64)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, ErrNotAFlag) {
		t.Error(err)
	}
}

// At a server that answers as a sidecar does.

package attachment

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const events = `event: attached
data: {"name":"worker"}

: a comment

event: lead
data: {"epoch":7}

event: drain
data: {"epoch":7,"reason":"leave","successor":"n2","left_ms":1500,"attachment":4711,"drain":2}

`

// What has come, as one line: method, target, authorization, body.
type asked chan string

// What came to a server: connections and requests; and how many it has yet to end without an answer.
type counts struct{ connections, requests, ends int32 }

// A server that answers as a sidecar does; its socket, and what it is asked.
func sidecar(t *testing.T) (string, asked) {
	place, requests, _ := countingSidecar(t)
	return place, requests
}

func countingSidecar(t *testing.T) (string, asked, *counts) {
	place := filepath.Join(t.TempDir(), "api.sock")
	listener, err := net.Listen("unix", place)
	if err != nil {
		t.Fatal(err)
	}
	requests := make(asked, 16)
	counted := &counts{}
	server := &http.Server{Handler: http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		atomic.AddInt32(&counted.requests, 1)
		if atomic.AddInt32(&counted.ends, -1) >= 0 {
			panic(http.ErrAbortHandler)
		}
		body, _ := io.ReadAll(request.Body)
		authorization := request.Header.Get("Authorization")
		requests <- strings.Join([]string{request.Method, request.RequestURI, authorization, string(body)}, "|")
		switch {
		case strings.Contains(request.RequestURI, "/attach"):
			answer.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(answer, events)
		case strings.Contains(string(body), "13"):
			http.Error(answer, "too late", http.StatusConflict)
		case strings.Contains(string(body), "99"):
			answer.Header().Set("Connection", "close")
		default:
			_, _ = io.WriteString(answer, "{}")
		}
	})}
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			atomic.AddInt32(&counted.connections, 1)
		}
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return place, requests, counted
}

func (counted *counts) expect(t *testing.T, connections, requests int32) {
	t.Helper()
	if atomic.LoadInt32(&counted.connections) != connections || atomic.LoadInt32(&counted.requests) != requests {
		t.Errorf("%d connections and %d requests", counted.connections, counted.requests)
	}
}

func (requests asked) expect(t *testing.T, wanted string) {
	t.Helper()
	select {
	case got := <-requests:
		if got != wanted {
			t.Errorf("asked %q, not %q", got, wanted)
		}
	default:
		t.Errorf("not asked %q", wanted)
	}
}

func write(t *testing.T, path, text string) {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestEventsComeUntilTheSidecarEnds(t *testing.T) {
	place, requests := sidecar(t)
	score := int64(-3)
	mine, err := Open(place, "worker", &score)
	if err != nil {
		t.Fatal(err)
	}
	defer mine.Close()
	var got []Event
	for event := range mine.Events() {
		got = append(got, event)
	}
	wanted := []Event{{Type: Attached}, {Type: Lead, Epoch: 7},
		{Type: Drain, Epoch: 7, Left: 1500 * time.Millisecond, Reason: "leave", Successor: "n2", Attachment: 4711, Drain: 2}}
	if !reflect.DeepEqual(got, wanted) {
		t.Errorf("%v", got)
	}
	requests.expect(t, "POST|/v1/application/attach?name=worker&score=-3||")
}

func TestScoreAndDrainedAreSentAndARefusalHasItsStatus(t *testing.T) {
	place, requests := sidecar(t)
	if err := SetScore(place, 42); err != nil {
		t.Error(err)
	}
	if err := Drained(place, Event{Type: Drain, Epoch: 7, Attachment: 4711, Drain: 2}); err != nil {
		t.Error(err)
	}
	requests.expect(t, `PUT|/v1/application/score||{"score":42}`)
	requests.expect(t, `POST|/v1/application/drained||{"attachment":4711,"drain":2,"epoch":7}`)
	var refused *Refused
	if err := Drained(place, Event{Type: Drain, Epoch: 13}); !errors.As(err, &refused) || refused.Status != 409 {
		t.Error(err)
	}
}

func TestATokenGoesAlongAndItsFileIsReadEachTime(t *testing.T) {
	place, requests := sidecar(t)
	path := filepath.Join(t.TempDir(), "token")
	byFile := TokenFile(path)
	if err := SetScore(place, 1, Token("first")); err != nil {
		t.Error(err)
	}
	write(t, path, "# replaced now and then\n\n second \nthird\n")
	if err := SetScore(place, 1, byFile); err != nil {
		t.Error(err)
	}
	write(t, path, "fourth")
	if err := Drained(place, Event{Type: Drain, Epoch: 7, Attachment: 4711, Drain: 2}, byFile); err != nil {
		t.Error(err)
	}
	mine, err := Open(place, "worker", nil, byFile)
	if err != nil {
		t.Fatal(err)
	}
	mine.Close()
	requests.expect(t, `PUT|/v1/application/score|Bearer first|{"score":1}`)
	requests.expect(t, `PUT|/v1/application/score|Bearer second|{"score":1}`)
	requests.expect(t, `POST|/v1/application/drained|Bearer fourth|{"attachment":4711,"drain":2,"epoch":7}`)
	requests.expect(t, "POST|/v1/application/attach?name=worker|Bearer fourth|")
}

func TestWhatIsNoTokenIsNeitherSentNorSaid(t *testing.T) {
	place, requests := sidecar(t)
	path := filepath.Join(t.TempDir(), "token")
	for _, text := range []string{"", "# none\n", "two words", "a\r\rb", "h\x01lf", "\xe4", strings.Repeat("x", 1025)} {
		write(t, path, text)
		err := SetScore(place, 1, TokenFile(path))
		if !errors.Is(err, ErrNoToken) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v", text, err)
		} else if text != "" && strings.Contains(err.Error(), text) {
			t.Error("it is said:", err)
		}
	}
	for _, option := range []Option{Token("half\r\nX: y"), TokenFile("/nowhere")} {
		if _, err := Open(place, "worker", nil, option); !errors.Is(err, ErrNoToken) {
			t.Error(err)
		}
	}
	if len(requests) != 0 {
		t.Error("it is sent:", <-requests)
	}
}

func setAll(t *testing.T, scorer *Scorer, scores ...int64) {
	t.Helper()
	for _, score := range scores {
		if err := scorer.Set(score); err != nil {
			t.Errorf("%d: %v", score, err)
		}
	}
}

func TestScoresGoOverOneConnectionAndTheTokensFileIsReadEachTime(t *testing.T) {
	place, requests, counted := countingSidecar(t)
	path := filepath.Join(t.TempDir(), "token")
	scorer := NewScorer(place, TokenFile(path))
	defer scorer.Close()
	counted.expect(t, 0, 0)
	write(t, path, "first")
	setAll(t, scorer, 1, 2)
	write(t, path, "second")
	setAll(t, scorer, 3)
	requests.expect(t, `PUT|/v1/application/score|Bearer first|{"score":1}`)
	requests.expect(t, `PUT|/v1/application/score|Bearer first|{"score":2}`)
	requests.expect(t, `PUT|/v1/application/score|Bearer second|{"score":3}`)
	counted.expect(t, 1, 3)
}

func TestAConnectionThatWasClosedIsMadeAnewOnce(t *testing.T) {
	place, _, counted := countingSidecar(t)
	scorer := NewScorer(place)
	defer scorer.Close()
	setAll(t, scorer, 1)
	atomic.StoreInt32(&counted.ends, 1)
	setAll(t, scorer, 2)
	counted.expect(t, 2, 3)
	atomic.StoreInt32(&counted.ends, 2)
	if err := scorer.Set(3); err == nil {
		t.Error("nobody has answered")
	}
	counted.expect(t, 3, 5)
	setAll(t, scorer, 4, 5)
	counted.expect(t, 4, 7)
}

func TestTheLastAnswerAndAnErrorCloseTheConnection(t *testing.T) {
	place, _, counted := countingSidecar(t)
	scorer := NewScorer(place)
	setAll(t, scorer, 99, 1)
	counted.expect(t, 2, 2)
	var refused *Refused
	if err := scorer.Set(13); !errors.As(err, &refused) || refused.Status != 409 {
		t.Error(err)
	}
	counted.expect(t, 2, 3)
	setAll(t, scorer, 2)
	counted.expect(t, 3, 4)
	scorer.Close()
	setAll(t, scorer, 3)
	scorer.Close()
	counted.expect(t, 4, 5)
}

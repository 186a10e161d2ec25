// Package attachment is the application's attachment to its sidecar: while it is open, this node may lead
// ([application] attach).
//
//	mine, err := attachment.Open("/run/bellwether/api.sock", "worker", nil)
//	for event := range mine.Events() {
//		... // attached, lead, follow, drain: whoever waits for the flag may look now
//	}
//
// The open connection is the statement "I am here"; the kernel ends it when the process dies, however it
// dies: a child that is started by os/exec does not hold it.  Whether this replica leads says the flag (package leaderflag), before each piece of work.  Before
// its node hands leadership over the application is told so (Drain, where [application] drain_timeout is
// set): Begin of the flag refuses from then on, and when what was begun has ended, Drained says so.  Copy
// the package into your application, or require the module from a checkout with a replace directive; it
// needs nothing but the standard library.
package attachment

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// What the sidecar says.  Ignore types that you do not know.
const (
	Attached = "attached" // it knows of this application from now on
	Lead     = "lead"     // this node leads Epoch
	Follow   = "follow"   // it does not; Epoch is that of its leader, or of the last one
	Drain    = "drain"    // it leads Epoch, and hands over: finish, and say so, in Left
)

// The sidecar, on this host, has so long to accept and to answer.
const timeout = 2 * time.Second

// No head or body of an answer is longer.
const mostBytes = 16384

// No token is longer.
const mostTokenBytes = 1024

// ErrNoToken is the error where the file of the token cannot be read, or there is none in it, or what was
// given is none.
var ErrNoToken = errors.New("there is no token")

// Option is Token or TokenFile: over TCP [api] token_file may ask for a token, and it is sent as it is: to
// the sidecar of this host.
type Option func() (string, error)

// Token is by which the application may command its sidecar.
func Token(token string) Option {
	return func() (string, error) { return checked("token", token) }
}

// TokenFile is the same of a file, whose first line that is neither empty nor begins with '#' counts.  It
// is read each time that a token is sent, for tokens are replaced.
func TokenFile(path string) Option {
	return func() (string, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("%w: %v", ErrNoToken, err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if line = strings.Trim(line, " \t\r"); line != "" && line[0] != '#' {
				return checked(path, line)
			}
		}
		return checked(path, "")
	}
}

// No error says what it is.
func checked(place, token string) (string, error) {
	isHidden := func(c rune) bool { return c <= ' ' || c > '~' }
	if token == "" || len(token) > mostTokenBytes || strings.IndexFunc(token, isHidden) >= 0 {
		return "", fmt.Errorf("%w: %s: this is none", ErrNoToken, place)
	}
	return token, nil
}

// Event is one word of the sidecar.
type Event struct {
	Type       string
	Epoch      uint64
	Left       time.Duration // this and what follows of Drain
	Reason     string        // "step_down", "transfer", "leave", "take_over"
	Successor  string        // as it looks now; empty: nobody can lead
	Attachment uint64        // who is asked: this one, and nobody else of its name
	Drain      uint64        // its number: an epoch may see more than one
}

// Refused is the error where the sidecar has answered otherwise than with 200: 400 name or score, 401 and
// 403 this process may not, 404 and 409 nobody waits for it to finish, 429 too many scores a second, 503 too many are attached.
type Refused struct {
	Status int
	Reason string
}

func (refused *Refused) Error() string {
	return fmt.Sprintf("the sidecar answered %d: %s", refused.Status, refused.Reason)
}

// Attachment is open until Close, or until the sidecar ends.
type Attachment struct {
	body   io.ReadCloser
	cancel context.CancelFunc
	events chan Event
}

// Open attaches as name (1 to 64 letters, digits, '-', '.' and '_').  place is the path of the API's unix
// socket, or its address, "127.0.0.1:4040".  score is what the application is worth from the start, or
// nil.
func Open(place, name string, score *int64, options ...Option) (*Attachment, error) {
	query := url.Values{"name": {name}}
	if score != nil {
		query.Set("score", strconv.FormatInt(*score, 10))
	}
	untilClosed, cancel := context.WithCancel(context.Background())
	target := "/v1/application/attach?" + query.Encode()
	answer, err := ask(untilClosed, connecting(place, false), http.MethodPost, target, nil, options)
	if err != nil {
		cancel()
		return nil, err
	}
	if kind := answer.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		cancel()
		answer.Body.Close()
		return nil, fmt.Errorf("what answers is not a sidecar: it sends %q, not events", kind)
	}
	mine := &Attachment{body: answer.Body, cancel: cancel, events: make(chan Event, 16)}
	go mine.read(untilClosed)
	return mine, nil
}

// Events is closed when the sidecar has ended, or after Close: then attach again, after a moment.
func (mine *Attachment) Events() <-chan Event { return mine.events }

// Close detaches: if no other application is attached, this node leads no longer.
func (mine *Attachment) Close() {
	mine.cancel()
	mine.body.Close()
}

// SetScore says what the application is worth from now on, from -(2^53 - 1) to 2^53 - 1.  Until it is said, also
// after a restart of the sidecar, it is 0.
func SetScore(place string, score int64, options ...Option) error {
	return tell(connecting(place, false), score, options)
}

// Scorer is for a score that changes often: it keeps the connection, for making one each time is much of
// what a score costs the sidecar.  It is of one goroutine at a time.
type Scorer struct {
	transport *http.Transport
	options   []Option
}

// NewScorer connects to nobody yet.
func NewScorer(place string, options ...Option) *Scorer {
	return &Scorer{transport: connecting(place, true), options: options}
}

// Set is SetScore.  It connects if it has to: at first, after an error, and, by itself, where the sidecar has
// closed the connection or has restarted.  A score that could not be said is not kept: say it again when you
// attach again.
func (scorer *Scorer) Set(score int64) error {
	err := tell(scorer.transport, score, scorer.options)
	if err != nil {
		scorer.Close()
	}
	return err
}

// Close may be repeated; Set connects anew.
func (scorer *Scorer) Close() { scorer.transport.CloseIdleConnections() }

func tell(transport *http.Transport, score int64, options []Option) error {
	body, err := json.Marshal(map[string]int64{"score": score})
	if err != nil {
		return err
	}
	untilDone, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	answer, err := ask(untilDone, transport, http.MethodPut, "/v1/application/score", body, options)
	if err != nil {
		return err
	}
	// A connection whose answer was not read to its end cannot be kept.
	_, _ = io.CopyN(io.Discard, answer.Body, mostBytes)
	return answer.Body.Close()
}

// Drained says that what was begun has ended, as this event, Drain, asked for; it may be said twice.  Refused
// with status 409: nobody waits for it in this drain (any more).
func Drained(place string, drain Event, options ...Option) error {
	body, err := json.Marshal(map[string]uint64{"epoch": drain.Epoch, "drain": drain.Drain, "attachment": drain.Attachment})
	if err != nil {
		return err
	}
	untilDone, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	answer, err := ask(untilDone, connecting(place, false), http.MethodPost, "/v1/application/drained", body, options)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// Whether a connection is kept for the next request.
func connecting(place string, isKept bool) *http.Transport {
	network := "tcp"
	if strings.HasPrefix(place, "/") {
		network = "unix"
	}
	return &http.Transport{
		DisableKeepAlives:      !isKept,
		MaxResponseHeaderBytes: mostBytes,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{Timeout: timeout}).DialContext(ctx, network, place)
		},
	}
}

func ask(until context.Context, transport *http.Transport, method, target string, body []byte, options []Option) (*http.Response, error) {
	until, cancel := context.WithCancel(until)
	overdue := time.AfterFunc(timeout, cancel)
	defer overdue.Stop()
	request, err := http.NewRequestWithContext(until, method, "http://localhost"+target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for _, option := range options {
		token, err := option()
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+token)
	}
	// It is not sent; by it the transport asks again, once, if a connection that was kept has been closed.
	request.Header["Idempotency-Key"] = nil
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	defer answer.Body.Close()
	reason, _ := io.ReadAll(io.LimitReader(answer.Body, 1024))
	return nil, &Refused{Status: answer.StatusCode, Reason: strings.TrimSpace(string(reason))}
}

func (mine *Attachment) read(untilClosed context.Context) {
	defer close(mine.events)
	event := Event{}
	for lines := bufio.NewScanner(mine.body); lines.Scan(); {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "event: "):
			event = Event{Type: strings.TrimPrefix(line, "event: ")}
		case strings.HasPrefix(line, "data: "):
			data := struct {
				Epoch      uint64
				LeftMs     int64 `json:"left_ms"`
				Reason     string
				Successor  string
				Attachment uint64
				Drain      uint64
			}{}
			_ = json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &data)
			event.Epoch, event.Left = data.Epoch, time.Duration(data.LeftMs)*time.Millisecond
			event.Reason, event.Successor = data.Reason, data.Successor
			event.Attachment, event.Drain = data.Attachment, data.Drain
		case line == "" && event.Type != "":
			select {
			case mine.events <- event:
			case <-untilClosed.Done():
				return
			}
			event = Event{}
		}
	}
}

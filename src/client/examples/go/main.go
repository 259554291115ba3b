// An API: who is calling, what only editors may do, and a webhook. Needs the standard library alone.
package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// Person is who has a token, current at the time of the call.
type Person struct {
	UserID string   `json:"userId"`
	Email  string   `json:"email"`
	Roles  []string `json:"roles"`
}

type personKey struct{}

var (
	server        = os.Getenv("GATEHOUSE")
	apiKey        = os.Getenv("API_KEY")
	signingSecret = os.Getenv("SIGNING_SECRET")
	client        = &http.Client{Timeout: 5 * time.Second}
)

// verify returns who has a token, or the reason why nobody has. An error is no verdict.
func verify(ctx context.Context, token string) (*Person, string, error) {
	body, err := json.Marshal(map[string]string{"token": token})
	if err != nil {
		return nil, "", err
	}
	request, err := http.NewRequestWithContext(ctx, "POST", server+"/api/v1/verify", bytes.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	request.Header.Set("Authorization", "Bearer "+apiKey)
	request.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, "", fmt.Errorf("verify answered %s", answer.Status)
	}
	var verdict struct {
		Success      bool    `json:"success"`
		ErrorMessage string  `json:"errorMessage"`
		Data         *Person `json:"data"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&verdict); err != nil {
		return nil, "", err
	}
	if !verdict.Success || verdict.Data == nil {
		return nil, verdict.ErrorMessage, nil
	}
	return verdict.Data, "", nil
}

// requireSession lets a request pass with its person, and answers any other with 401, 403 or 503.
func requireSession(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(scheme, "Bearer") || token == "" {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "no_token", http.StatusUnauthorized)
			return
		}
		person, reason, err := verify(r.Context(), token)
		switch {
		case err != nil:
			log.Print(err)
			http.Error(w, "unavailable", http.StatusServiceUnavailable)
		case reason == "membership_blocked":
			http.Error(w, reason, http.StatusForbidden)
		case person == nil:
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
			http.Error(w, reason, http.StatusUnauthorized)
		default:
			next(w, r.WithContext(context.WithValue(r.Context(), personKey{}, person)))
		}
	}
}

// requireRole lets only people with the role pass.
func requireRole(role string, next http.HandlerFunc) http.HandlerFunc {
	return requireSession(func(w http.ResponseWriter, r *http.Request) {
		for _, held := range personOf(r).Roles {
			if held == role {
				next(w, r)
				return
			}
		}
		http.Error(w, "missing_role", http.StatusForbidden)
	})
}

func personOf(r *http.Request) *Person { return r.Context().Value(personKey{}).(*Person) }

func respond(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(value); err != nil {
		log.Print(err)
	}
}

func me(w http.ResponseWriter, r *http.Request) {
	respond(w, map[string]any{"email": personOf(r).Email, "roles": personOf(r).Roles})
}

func publish(w http.ResponseWriter, r *http.Request) {
	var article struct {
		Title string `json:"title"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&article); err != nil {
		http.Error(w, "no article", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	respond(w, map[string]string{"title": article.Title, "author": personOf(r).UserID})
}

func hook(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil || !isSigned(body, r.Header.Get("Svc-Signature")) {
		http.Error(w, "wrong_signature", http.StatusUnauthorized)
		return
	}
	fmt.Println(string(body))
}

// isSigned tells whether a body was signed with the secret, at most five minutes ago.
func isSigned(body []byte, header string) bool {
	parts := strings.Split(header, ",")
	stamp := strings.TrimPrefix(parts[0], "t=")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if age := time.Now().Unix() - seconds; err != nil || age > 300 || age < -300 {
		return false
	}
	mac := hmac.New(sha256.New, []byte(signingSecret))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	expected := "v1=" + hex.EncodeToString(mac.Sum(nil))
	for _, signature := range parts[1:] {
		if hmac.Equal([]byte(signature), []byte(expected)) {
			return true
		}
	}
	return false
}

func main() {
	if server == "" || apiKey == "" || signingSecret == "" {
		log.Fatal("Set GATEHOUSE, API_KEY and SIGNING_SECRET.")
	}
	http.HandleFunc("/me", requireSession(me))
	http.HandleFunc("/articles", requireRole("editor", publish))
	http.HandleFunc("/hook", hook)
	address := "127.0.0.1:" + os.Getenv("PORT")
	fmt.Println("Listening at http://" + address)
	log.Fatal(http.ListenAndServe(address, nil))
}

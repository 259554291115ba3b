/** Receiver code that verifies deliveries, in several languages, without dependencies and in constant time. */
import type { Snippet } from '../../components/snippets.tsx';

const TYPESCRIPT = `import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * The event of a delivery, or null where the signature is not good.
 * @param rawBody the body as it came, before any parsing
 * @param header Svc-Signature
 */
export function verifyWebhook(rawBody: string, header: string, secret: string) {
  const parts = header.split(',').map((part) => part.split('='));
  const time = parts.find(([name]) => name === 't')?.[1] ?? '';
  const age = Math.abs(Date.now() / 1000 - Number(time));
  if (!(age <= 300)) return null;
  const expected = createHmac('sha256', secret).update(\`\${time}.\${rawBody}\`).digest();
  const isGood = parts.some(([name, value = '']) => {
    const given = Buffer.from(value, 'hex');
    return name === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
  return isGood ? JSON.parse(rawBody) : null;
}`;

const PYTHON = `import hashlib, hmac, json, time

def verify_webhook(raw_body: bytes, header: str, secret: str):
    """The event of a delivery, or None where the signature is not good.
    raw_body: the body as it came, before any parsing; header: Svc-Signature"""
    parts = [part.partition("=")[::2] for part in header.split(",")]
    stamp = next((value for name, value in parts if name == "t"), "")
    if not stamp.isdecimal() or abs(time.time() - int(stamp)) > 300:
        return None
    signed = stamp.encode() + b"." + raw_body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest().encode()
    signatures = [value.encode() for name, value in parts if name == "v1"]
    if not any(hmac.compare_digest(value, expected) for value in signatures):
        return None
    return json.loads(raw_body)`;

const GO = `package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Verify says whether a delivery is genuine. body is what came, before any
// parsing; header is Svc-Signature.
func Verify(body []byte, header, secret string) error {
	var stamp string
	var signatures []string
	for _, part := range strings.Split(header, ",") {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "t":
			stamp = value
		case "v1":
			signatures = append(signatures, value)
		}
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return errors.New("webhook: the time is not good")
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	expected := mac.Sum(nil)
	for _, signature := range signatures {
		given, err := hex.DecodeString(signature)
		if err == nil && hmac.Equal(given, expected) {
			return nil
		}
	}
	return errors.New("webhook: the signature is not good")
}`;

const PHP = `<?php
/**
 * The event of a delivery, or null where the signature is not good.
 * $rawBody: file_get_contents('php://input'); $header: $_SERVER['HTTP_SVC_SIGNATURE']
 */
function verify_webhook(string $rawBody, string $header, string $secret): ?array
{
    $time = '';
    $signatures = [];
    foreach (explode(',', $header) as $part) {
        [$name, $value] = array_pad(explode('=', $part, 2), 2, '');
        if ($name === 't') $time = $value;
        if ($name === 'v1') $signatures[] = $value;
    }
    if (!ctype_digit($time) || abs(time() - (int) $time) > 300) return null;
    $expected = hash_hmac('sha256', $time . '.' . $rawBody, $secret);
    foreach ($signatures as $signature) {
        if (hash_equals($expected, $signature)) return json_decode($rawBody, true);
    }
    return null;
}`;

export const VERIFICATION: readonly Snippet[] = [
  { name: 'TypeScript', code: TYPESCRIPT },
  { name: 'Python', code: PYTHON },
  { name: 'Go', code: GO },
  { name: 'PHP', code: PHP },
];

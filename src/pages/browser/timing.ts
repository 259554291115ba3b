/** Computes waiting times from server timestamps, independently of this device's clock, and reads its time zone. */

/** A Date header has whole seconds and may be up to a second old, so waits seem up to this much longer. */
const DATE_LAG = 2;

/**
 * Returns the seconds from the server's response (its Date header) to a server timestamp.
 * Returns the fallback, the usual wait, if the result is close to it or implausible, as after a clock change.
 */
export function secondsUntil(
  timestamp: string,
  answeredAt: string | null,
  { fallback, atMost }: { fallback: number; atMost: number },
): number {
  const wait = (Date.parse(timestamp) - (answeredAt ? Date.parse(answeredAt) : Date.now())) / 1_000;
  const isUsual = wait >= fallback && wait < fallback + DATE_LAG;
  return wait >= 0 && wait <= atMost && !isUsual ? Math.floor(wait) : fallback;
}

/** Returns `0:28`, the same in every language. */
export function clockText(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** Calls `onTick` at once and then every second with the seconds left, down to 0. Returns a function that stops it. */
export function startCountdown(seconds: number, onTick: (secondsLeft: number) => void): () => void {
  const endsAt = Date.now() + seconds * 1_000;
  const left = () => Math.min(seconds, Math.max(0, Math.ceil((endsAt - Date.now()) / 1_000)));
  onTick(seconds);
  if (seconds <= 0) return () => {};
  const timer = setInterval(() => {
    const secondsLeft = left();
    if (secondsLeft === 0) clearInterval(timer);
    onTick(secondsLeft);
  }, 1_000);
  return () => clearInterval(timer);
}

/** Returns the reader's time zone if the browser reports it. */
export function browserTimezone(): string | undefined {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || undefined;
}

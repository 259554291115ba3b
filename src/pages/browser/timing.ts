/** Waiting times, told from the server's timestamps without trusting this device's clock, and its time zone. */

/**
 * Seconds from the moment the server answered (its Date header) until one of its timestamps. Where that is no
 * plausible wait, as when the server's clock has been moved, the fallback.
 */
export function secondsUntil(
  timestamp: string,
  answeredAt: string | null,
  { fallback, atMost }: { fallback: number; atMost: number },
): number {
  // The Date header has whole seconds, and may be a second old.
  const seconds = Math.floor((Date.parse(timestamp) - (answeredAt ? Date.parse(answeredAt) : Date.now())) / 1_000);
  return seconds >= 0 && seconds <= atMost ? seconds : fallback;
}

/** `0:28`; the same in every language. */
export function clockText(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** Calls `onTick` at once and then each second with what is left, the last time with 0. Returns what stops it. */
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

/** The reader's own, where the browser tells it. */
export function browserTimezone(): string | undefined {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || undefined;
}

/** Waiting times, told from the server's timestamps without trusting this device's clock, and its time zone. */

/** A Date header has whole seconds, and may have been written up to a second before: waits seem longer by less than this. */
const DATE_LAG = 2;

/**
 * Seconds from the moment the server answered (its Date header) until one of its timestamps. The fallback, which is the
 * usual wait, where that is what it comes to, and where it is no plausible wait, as when the server's clock has been moved.
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

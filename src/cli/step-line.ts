/** How far a long command has come: one line on a terminal, written again and again; nothing where nobody looks. */

export interface StepLine {
  /** @param whole how many bytes it will be; null where that is not known. */
  show(step: string, bytes: number, whole?: number | null): void;
  /** Takes the line away. */
  end(): void;
}

const CLEAR = '\r\x1b[2K';

export function stepLine(): StepLine {
  const isSeen = process.stderr.isTTY;
  let isShown = false;
  return {
    show(step, bytes, whole = null) {
      if (!isSeen) return;
      const share = whole !== null && whole > 0 ? ` (${Math.min(99, Math.floor((100 * bytes) / whole))} %)` : '';
      process.stderr.write(`${CLEAR}${step}…${bytes > 0 ? ` ${bytesText(bytes)}${share}` : ''}`);
      isShown = true;
    },
    end() {
      if (isShown) process.stderr.write(CLEAR);
      isShown = false;
    },
  };
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** As people read it: `1.4 GiB`. */
export function bytesText(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const value = bytes / 1024 ** step;
  return `${value >= 10 || step === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[step]}`;
}

export function secondsText(ms: number): string {
  const seconds = ms / 1000;
  return seconds < 10 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`;
}

/** Shows progress of a long command on one rewritten terminal line; prints nothing without a terminal. */
import { bytesText } from '../core/quantities.ts';

export interface ProgressLine {
  /** @param whole expected total in bytes; null when unknown. */
  show(step: string, bytes: number, whole?: number | null): void;
  end(): void;
}

const CLEAR = '\r\x1b[2K';

export function showLine(text: string | null): void {
  if (process.stderr.isTTY) process.stderr.write(`${CLEAR}${text ?? ''}`);
}

export function progressLine(): ProgressLine {
  let isShown = false;
  return {
    show(step, bytes, whole = null) {
      const share = whole !== null && whole > 0 ? ` (${Math.min(99, Math.floor((100 * bytes) / whole))} %)` : '';
      showLine(`${step}…${bytes > 0 ? ` ${bytesText(bytes)}${share}` : ''}`);
      isShown = true;
    },
    end() {
      if (isShown) showLine(null);
      isShown = false;
    },
  };
}

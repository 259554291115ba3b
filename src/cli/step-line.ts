/** How far a long command has come: one line on a terminal, written again and again; nothing where nobody looks. */
import { bytesText } from '../core/quantities.ts';

export interface StepLine {
  /** @param whole how many bytes it will be; null where that is not known. */
  show(step: string, bytes: number, whole?: number | null): void;
  /** Takes the line away. */
  end(): void;
}

const CLEAR = '\r\x1b[2K';

/** In place of the line before; null takes that away. */
export function showLine(text: string | null): void {
  if (process.stderr.isTTY) process.stderr.write(`${CLEAR}${text ?? ''}`);
}

export function stepLine(): StepLine {
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

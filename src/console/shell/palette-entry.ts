/** Entry of the command palette: a place to go to, or something to do. */
import type { Findable } from './find-entries.ts';

export interface PaletteEntry extends Findable {
  readonly id: string;
  /** Address in the console. */
  readonly href?: string;
  /** Runs once the palette is closed. */
  readonly run?: () => unknown;
}

/** Entry of the command palette: a place to go to, or something to do. */
import type { Findable } from '../../pages/docs/search.ts';

export interface PaletteEntry extends Findable {
  readonly id: string;
  /** Address in the console. */
  readonly href?: string;
  /** Runs once the palette is closed. */
  readonly run?: () => unknown;
}

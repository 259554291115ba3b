/** Records that the console shows around every view, in its document: this saves three requests, and the wait for them. */
import type { Schemas } from './api.ts';

export interface Opening {
  readonly account: Schemas['Account'];
  readonly workspaces: readonly Schemas['Workspace'][];
  /** Applications of all workspaces, including hidden ones; null if they are too many for a document. */
  readonly applications: readonly Schemas['Application'][] | null;
}

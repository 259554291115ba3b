/** Props of every view of one application. */
import type { Schemas } from './api.ts';

export interface ApplicationViewProps {
  readonly application: Schemas['Application'];
}

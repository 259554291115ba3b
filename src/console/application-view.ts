import type { Schemas } from './api.ts';

export interface ApplicationViewProps {
  readonly application: Schemas['Application'];
}

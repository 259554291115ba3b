/** Stages and gates as a list says them. */
import type { Schemas } from '../../api.ts';
import type { Tone } from '../../components/status.tsx';

export const STAGES: Readonly<Record<Schemas['Stage'], { readonly title: string; readonly tone: Tone }>> = {
  draft: { title: 'Draft', tone: 'calm' },
  test: { title: 'Test', tone: 'warn' },
  live: { title: 'Live', tone: 'good' },
};

export const GATE_TITLES: Readonly<Record<Schemas['SignInGate'], string>> = {
  public: 'Public',
  private_beta: 'Private beta',
  closed: 'Closed',
};

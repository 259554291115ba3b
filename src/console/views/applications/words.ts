/** Texts for application stages and gates. */
import type { Schemas } from '../../api.ts';
import type { Tone } from '../../components/status.tsx';

interface StageWords {
  readonly title: string;
  readonly tone: Tone;
  readonly meaning: string;
}

export const STAGES: Readonly<Record<Schemas['Stage'], StageWords>> = {
  draft: {
    title: 'Draft',
    tone: 'calm',
    meaning: 'Only members of the workspace sign in. Everybody else is told that it is not open yet.',
  },
  test: {
    title: 'Test',
    tone: 'warn',
    meaning: 'Whoever the gate lets in signs in: the time to try it with people you have told.',
  },
  live: {
    title: 'Live',
    tone: 'good',
    meaning: 'It is announced: those who left their address to hear of the opening are told, each once.',
  },
};

interface GateWords {
  readonly title: string;
  readonly meaning: string;
}

/** Ordered, most open first. */
export const GATES: Readonly<Record<Schemas['SignInGate'], GateWords>> = {
  public: {
    title: 'Public',
    meaning: 'Anybody can sign in. Whoever comes for the first time becomes a user.',
  },
  private_beta: {
    title: 'Private beta',
    meaning:
      'Only people approved on the allowlist, even if they were users before, and members of the workspace. Others can ask.',
  },
  closed: {
    title: 'Closed',
    meaning: 'Only people who are users already. Nobody new comes in.',
  },
};

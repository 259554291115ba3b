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
    meaning: 'Only members of the workspace can sign in. Everybody else sees that it is not open yet.',
  },
  test: {
    title: 'Test',
    tone: 'warn',
    meaning: 'Anybody the gate lets in can sign in. Try it out with people you invite.',
  },
  live: {
    title: 'Live',
    tone: 'good',
    meaning: 'It is announced: everybody who asked to hear of the opening gets one mail.',
  },
};

interface GateWords {
  readonly title: string;
  readonly meaning: string;
}

/** Ordered, most open first. */
export const GATES: Readonly<Record<Schemas['SignInGate'], GateWords>> = {
  public: { title: 'Public', meaning: 'Anybody can sign in, and becomes a user the first time.' },
  private_beta: {
    title: 'Private beta',
    meaning:
      'Only people approved on the allowlist and members of the workspace. Existing users need approval too; others can request access.',
  },
  closed: { title: 'Closed', meaning: 'Only existing users. Nobody new can sign in.' },
};

/** Texts and API requests for archiving, deleting and hiding. */
import type { BodyOf } from '../../api.ts';

export type LifecycleStep = 'archive' | 'delete' | 'delete-now' | 'hide';

interface Words {
  readonly title: string;
  readonly effect: string;
  readonly verb: string;
  readonly done: string;
  readonly body: BodyOf<'sendLifecycleCode'>;
  /** Asks to type the name, because the application disappears from the console. */
  readonly isNameTyped: boolean;
}

const OUT = 'Sign-in stops and everybody is signed out at once';

export const LIFECYCLE_WORDS: Readonly<Record<LifecycleStep, Words>> = {
  archive: {
    title: 'Archive',
    effect: `${OUT}. Users, roles and settings stay, and it can be undone at any time.`,
    verb: 'Archive',
    done: 'It is archived.',
    body: { kind: 'archive' },
    isNameTyped: false,
  },
  delete: {
    title: 'Delete',
    effect: `${OUT}. For 90 days it stays in the lists with a countdown; then it is hidden. It can be restored.`,
    verb: 'Delete',
    done: 'It is deleted, and can be restored.',
    body: { kind: 'delete' },
    isNameTyped: true,
  },
  'delete-now': {
    title: 'Delete and hide at once',
    effect: `${OUT}, and it disappears from the lists without the 90 days. It can be restored here, and from the hidden applications.`,
    verb: 'Delete and hide',
    done: 'It is deleted and hidden.',
    body: { kind: 'delete', skipGrace: true },
    isNameTyped: true,
  },
  hide: {
    title: 'Hide now',
    effect: 'It disappears from the lists at once. It can be restored here, and from the hidden applications.',
    verb: 'Hide',
    done: 'It is hidden.',
    body: { kind: 'hide_now' },
    isNameTyped: true,
  },
};

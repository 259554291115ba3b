/** The mail that carries the code for archiving, deleting or hiding an application; for operators, in English. */
import { type MailContent, noticeMail } from './notice.ts';

const ACTIONS = {
  archive: { verb: 'archive', effect: 'Sign-in stops and everybody is signed out. It can be undone.' },
  delete: { verb: 'delete', effect: 'Sign-in stops and everybody is signed out. It can be undone for 90 days.' },
  hide_now: { verb: 'hide', effect: 'Sign-in stops, everybody is signed out and it leaves the list at once.' },
} as const;

/** A code, and what it does to which application. */
export interface LifecycleCodeMail {
  readonly kind: keyof typeof ACTIONS;
  readonly applicationName: string;
  readonly code: string;
  readonly lifetimeMinutes: number;
}

/** Says what will happen before it shows the code. */
export function lifecycleCodeMail({ kind, applicationName, code, lifetimeMinutes }: LifecycleCodeMail): MailContent {
  const { verb, effect } = ACTIONS[kind];
  return noticeMail({
    locale: 'en',
    subject: `${code} is the code to ${verb} ${applicationName}`,
    heading: `Confirm that ${applicationName} is to be ${verb === 'hide' ? 'hidden' : `${verb}d`}`,
    before: [effect, 'Enter this code to confirm:'],
    code,
    after: [
      `It expires in ${lifetimeMinutes} minutes and works once.`,
      'If nobody of your team asked for it, change your API keys: somebody holds one with full access.',
    ],
  });
}

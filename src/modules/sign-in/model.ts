/** Schemas of sign-in. */
import { type Static, Type } from '@sinclair/typebox';
import { Email, Id, Input, NewSecret, OneTimeCode, Timestamp } from '../../http/schemas.ts';

export const SendCodeInput = Input({
  email: Email(),
  clientId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'The application to sign in to; the console when left out.',
      remedy: 'Give the clientId of an application.',
    }),
  ),
  locale: Type.Optional(
    Type.String({
      maxLength: 35,
      description: 'BCP 47; the language of the mail, and at the first sign-in the person’s `locale`.',
      remedy: 'Give a language tag.',
    }),
  ),
});
export type SendCodeInput = Static<typeof SendCodeInput>;

export const CodeSent = Type.Object({
  challengeId: Id('chl'),
  expiresAt: Timestamp(),
  resendAfter: Timestamp({ description: 'Another code may be asked for from then on.' }),
  sent: Type.Boolean({
    description: 'Whether a mail is on its way for this call; false where the code of a moment ago still serves.',
  }),
});
export type CodeSent = Static<typeof CodeSent>;

/** Accepts any text: an invalid time zone is ignored, so that a browser's settings never block a sign-in. */
export const TimezoneOfBrowser = () =>
  Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'The IANA zone of the browser; at the first sign-in the person’s `timezone`.',
      remedy: 'Give a time zone of the IANA database, such as Europe/Vienna.',
      examples: ['Europe/Vienna'],
    }),
  );

export const VerifyCodeInput = Input({
  challengeId: Type.String({ minLength: 1, maxLength: 100, remedy: 'Give the challengeId that otp/send answered.' }),
  code: OneTimeCode(),
  timezone: TimezoneOfBrowser(),
});
export type VerifyCodeInput = Static<typeof VerifyCodeInput>;

export const SignedIn = Type.Object(
  {
    token: NewSecret('session', 'The session token, in plain text, this once.'),
    expiresAt: Timestamp(),
    userId: Id('usr'),
    applicationId: Id('app'),
  },
  { $id: 'SignedIn' },
);
export type SignedIn = Static<typeof SignedIn>;

const Flag = (description: string) => Type.Optional(Type.Boolean({ description, remedy: 'Give true or false.' }));

/** Options for removing a sign-in method. */
export const RemovalQuery = Type.Object({
  force: Flag('Goes on although it is the last way in to one of the person’s applications.'),
  endAllSessions: Flag(
    'Ends all other sessions as well: those in applications of the session’s workspace; from the console all.',
  ),
});
export type RemovalQuery = Static<typeof RemovalQuery>;

export const SessionsEndedCount = Type.Integer({
  description: 'How many sessions were ended: those made with it, and the others where that was asked for.',
});

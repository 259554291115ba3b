import { type Static, Type } from '@sinclair/typebox';
import { Email, Id, Input, NewSecret, OneTimeCode, Timestamp } from '../../http/schemas.ts';

export const SendCodeInput = Input({
  email: Email(),
  clientId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'The application to sign in to; the console if omitted.',
      remedy: 'Give the clientId of an application.',
    }),
  ),
  locale: Type.Optional(
    Type.String({
      maxLength: 35,
      description: 'BCP 47; language of the mail, and the person’s `locale` at the first sign-in.',
      remedy: 'Give a language tag.',
    }),
  ),
});
export type SendCodeInput = Static<typeof SendCodeInput>;

export const CodeSent = Type.Object({
  challengeId: Id('chl'),
  expiresAt: Timestamp(),
  resendAfter: Timestamp({ description: 'When another code can be requested.' }),
  sent: Type.Boolean({
    description: 'Whether this call sends a mail; false if the code sent a moment ago is still valid.',
  }),
});
export type CodeSent = Static<typeof CodeSent>;

/** Accepts any text: an invalid time zone is ignored, so that a browser's settings never block a sign-in. */
export const TimezoneOfBrowser = () =>
  Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'IANA zone of the browser; the person’s `timezone` at the first sign-in.',
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
    token: NewSecret('session', 'The session token; returned once, in plain text.'),
    expiresAt: Timestamp(),
    userId: Id('usr'),
    applicationId: Id('app'),
  },
  { $id: 'SignedIn' },
);
export type SignedIn = Static<typeof SignedIn>;

const Flag = (description: string) => Type.Optional(Type.Boolean({ description, remedy: 'Give true or false.' }));

export const RemovalQuery = Type.Object({
  force: Flag('Proceeds even if it is the last sign-in method for one of the person’s applications.'),
  endAllSessions: Flag(
    'Ends all other sessions as well: in applications of the session’s workspace; from the console, all.',
  ),
});
export type RemovalQuery = Static<typeof RemovalQuery>;

export const SessionsEndedCount = Type.Integer({
  description: 'Number of ended sessions: those made with it, and all others if requested.',
});

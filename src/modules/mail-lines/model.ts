import { type SchemaOptions, type Static, Type } from '@sinclair/typebox';
import { LOCALES } from '../../core/locale.ts';
import { MAIL_KINDS } from '../../core/mail-kinds.ts';
import { Choice, Email, Input, LINE_PATTERN, Nullable } from '../../http/schemas.ts';

const Kind = () => Choice(MAIL_KINDS, { $id: 'MailKind' });
const MailLocale = () => Choice(LOCALES, { $id: 'MailLocale' });

/** Excludes private-use characters as well, which stand for the code while a mail is drawn. */
const Line = (options: SchemaOptions = {}) =>
  Type.String({
    $id: 'MailLine',
    minLength: 1,
    maxLength: 500,
    pattern: `^(?=.*\\S)(?!.*[\\ue000-\\uf8ff])${LINE_PATTERN}$`,
    remedy: 'Give one line of 1 to 500 characters, without control characters.',
    examples: ['Questions? Write to help@shop.example.'],
    ...options,
  });

export const MailLineInput = Input({ mail: Kind(), locale: MailLocale(), line: Nullable(Line()) });
export type MailLineInput = Static<typeof MailLineInput>;

export const MailLines = Type.Object(
  { lines: Type.Array(Type.Object({ mail: Kind(), locale: MailLocale(), line: Line() })) },
  { $id: 'MailLines' },
);
export type MailLines = Static<typeof MailLines>;

export const MailPreviewQuery = Type.Object({
  mail: Choice(MAIL_KINDS, { $id: 'MailKind', description: 'The kind of mail.' }),
  locale: Choice(LOCALES, { $id: 'MailLocale', description: 'Its language.' }),
  line: Type.Optional(Line({ description: 'One line instead of the present one.' })),
});
export type MailPreviewQuery = Static<typeof MailPreviewQuery>;

export const MailPreview = Type.Object({
  sender: Type.String({ examples: ['Shop'] }),
  replyTo: Nullable(Email()),
  subject: Type.String({ examples: ['042917 is your Shop sign-in code'] }),
  text: Type.String({ examples: ['042917'] }),
});
export type MailPreview = Static<typeof MailPreview>;

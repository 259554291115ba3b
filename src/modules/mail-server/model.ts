import { type Static, Type } from '@sinclair/typebox';
import { Choice, Input, LINE_PATTERN, Nullable, Timestamp } from '../../http/schemas.ts';
import { MAIL_SOURCES } from '../../mail/server-in-use.ts';
import { MAIL_TLS } from '../../store/mail-servers.ts';

const TLS_MEANING =
  '`implicit`: TLS from the first byte, as on port 465. `starttls`: STARTTLS is required, as on port 587. `optional`: ' +
  'plain text if the server offers no STARTTLS. On this machine itself `starttls` is not required.';

const Tls = () => Choice(MAIL_TLS, { $id: 'MailTls', description: TLS_MEANING });

export const MailServerInput = Input({
  host: Type.String({
    minLength: 1,
    maxLength: 253,
    pattern: '^[A-Za-z0-9._:-]+$',
    description: 'Name or IP address; private ones are allowed.',
    remedy: 'Give a host name or an IP address, without a port.',
    examples: ['smtp.example.com'],
  }),
  port: Type.Integer({ minimum: 1, maximum: 65_535, remedy: 'Give a number from 1 to 65535.', examples: [587] }),
  tls: Tls(),
  username: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 320,
        pattern: `^${LINE_PATTERN}$`,
        description: 'Omitted for a server without a login.',
        remedy: 'Give the user name of the mail server, at most 320 characters.',
        examples: ['mailer@example.com'],
      }),
    ),
  ),
  password: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        pattern: '^[^\\u0000-\\u001f\\u007f]+$',
        description: 'Stored encrypted, never returned, and given anew with every change.',
        remedy: 'Give the password of the mail server, at most 1000 characters.',
        examples: ['correct horse battery staple'],
      }),
    ),
  ),
  from: Type.String({
    minLength: 3,
    maxLength: 320,
    description: 'Sender of mails; those of an application have its name, at this address.',
    remedy: 'Give an address, such as Acme <no-reply@acme.example>.',
    examples: ['Acme <no-reply@acme.example>'],
  }),
});
export type MailServerInput = Static<typeof MailServerInput>;

export const MailServerSchema = Type.Object(
  {
    source: Nullable(
      Choice(MAIL_SOURCES, {
        $id: 'MailSource',
        description: 'Where the mail server was set; null while mail stays in the outbox.',
      }),
    ),
    isFixed: Type.Boolean({ description: 'Whether the environment sets the mail server, so that the API cannot.' }),
    server: Nullable(Type.String({ description: 'Host and port.', examples: ['smtp.example.com:587'] })),
    from: Nullable(Type.String({ examples: ['Acme <no-reply@acme.example>'] })),
    settings: Nullable(
      Type.Object(
        {
          host: Type.String({ examples: ['smtp.example.com'] }),
          port: Type.Integer({ examples: [587] }),
          tls: Tls(),
          username: Nullable(Type.String({ examples: ['mailer@example.com'] })),
          setAt: Timestamp(),
        },
        { $id: 'MailServerSettings', description: 'Without the password; null unless set here.' },
      ),
    ),
  },
  { $id: 'MailServer' },
);
export type MailServerRecord = Static<typeof MailServerSchema>;

import { type Static, Type } from '@sinclair/typebox';
import { Choice, Nullable, Timestamp } from '../../http/schemas.ts';
import { DatabaseSchema, ListedInstanceSchema } from './database-model.ts';
import { MAIL_SOURCES } from '../../mail/server-in-use.ts';
import { MAIL_TRANSPORTS, MODES } from './facts.ts';
import { WARNING_CODES } from './warnings.ts';

const Count = () => Type.Integer({ examples: [0] });

export const InstanceHealthSchema = Type.Object(
  {
    version: Type.String({ examples: ['1.0.0'] }),
    startedAt: Timestamp(),
    uptimeSeconds: Type.Integer({ examples: [86_400] }),
    mode: Choice(MODES, { $id: 'InstanceMode' }),
    engine: Type.String({ examples: ['sqlite'] }),
    baseUrl: Type.String({ examples: ['https://auth.example.com'] }),
    isOperator: Type.Boolean({
      description:
        'Whether the caller runs the instance, as an owner of its first workspace. For others the rest is null.',
    }),
    mail: Type.Object(
      {
        transport: Choice(MAIL_TRANSPORTS, { $id: 'MailTransport' }),
        source: Nullable(Choice(MAIL_SOURCES, { $id: 'MailSource', description: 'Where the mail server was set.' })),
        server: Nullable(Type.String({ description: 'Host and port.', examples: ['smtp.example.com:587'] })),
        from: Nullable(Type.String({ examples: ['Acme <no-reply@acme.example>'] })),
      },
      { $id: 'InstanceMail' },
    ),
    quarantined: Type.Array(
      Type.Object(
        {
          id: Type.String({ examples: ['whk_01kat1h5ppe3bv2d9g3wq5r1xm'] }),
          url: Type.String({ examples: ['https://crm.example/hooks'] }),
          applicationId: Type.String({ examples: ['app_01kat1h5ppe3bv2d9g3wq5r1xm'] }),
          applicationName: Type.String({ examples: ['Shop'] }),
        },
        { $id: 'QuarantinedEndpoint' },
      ),
      { description: "The workspace's quarantined webhook endpoints, at most 20." },
    ),
    database: Nullable(DatabaseSchema),
    instances: Nullable(
      Type.Array(ListedInstanceSchema, {
        description: 'Instances on this database in the last day, oldest first; empty with a data folder.',
      }),
    ),
    queues: Nullable(
      Type.Object(
        {
          changes: Count(),
          mailsQueued: Type.Object({ code: Count(), notice: Count(), bulk: Count() }, { $id: 'MailsQueued' }),
          deliveriesQueued: Count(),
          deliveriesHeld: Count(),
          longWork: Count(),
        },
        { $id: 'InstanceQueues', description: 'Queue depths; some seconds old.' },
      ),
    ),
    settings: Nullable(
      Type.Array(
        Type.Object(
          {
            name: Type.String({ description: 'The environment variable.', examples: ['GATEHOUSE_PORT'] }),
            value: Nullable(
              Type.String({ description: 'The value or default; `••••` for a secret.', examples: ['8080'] }),
            ),
            isDefault: Type.Boolean({ description: 'Whether it is not set.' }),
            meaning: Type.String({ examples: ['Port to listen on; `0` takes a free one.'] }),
          },
          { $id: 'InstanceSetting' },
        ),
      ),
    ),
    warnings: Nullable(
      Type.Array(
        Type.Object(
          {
            code: Choice(WARNING_CODES, { $id: 'InstanceWarningCode' }),
            message: Type.String({ examples: ['No mail server is set.'] }),
            remedy: Type.String({ examples: ['Set GATEHOUSE_SMTP_URL.'] }),
          },
          { $id: 'InstanceWarning' },
        ),
      ),
    ),
  },
  { $id: 'InstanceHealth' },
);
export type InstanceHealthRecord = Static<typeof InstanceHealthSchema>;

/** Events sent to webhook endpoints, in the OpenAPI description (OpenAPI 3.1 `webhooks`). */
import { type TObject, Type } from '@sinclair/typebox';
import { EVENT_SCHEMAS, EVENT_TYPES, TEST_EVENT_TYPE } from '../../core/event.ts';
import { Id, Timestamp } from '../../http/schemas.ts';
import { type Components, pascalCase } from './components.ts';
import { jsonSchema } from './json-schema.ts';

export function eventDescriptions(components: Components): Record<string, object> {
  return Object.fromEntries([
    ...EVENT_TYPES.map((type) => [type, described(type, EVENT_SCHEMAS[type], components)]),
    [TEST_EVENT_TYPE, described(TEST_EVENT_TYPE, Type.Object({ webhookId: Id('whk') }), components)],
  ]);
}

function described(type: string, data: TObject, components: Components): object {
  const schema = Type.Object(
    {
      id: Id('evt'),
      type: Type.Literal(type),
      createdAt: Timestamp(),
      applicationId: Id('app'),
      data,
    },
    { $id: `${type.split('.').map(pascalCase).join('')}Event` },
  );
  return {
    post: {
      operationId: `on.${type}`,
      summary: `Event ${type}`,
      tags: ['Webhooks'],
      security: [],
      parameters: [
        components.share('parameters', 'EventSignature', SIGNATURE),
        components.share('parameters', 'EventId', EVENT_ID),
      ],
      requestBody: { required: true, content: { 'application/json': { schema: jsonSchema(schema, components) } } },
      responses: {
        200: components.share('responses', 'EventAccepted', EVENT_ACCEPTED),
      },
    },
  };
}

const EVENT_ACCEPTED = {
  description: 'Accepted, like any 2xx within 15 seconds; 410 quarantines the endpoint, which is then sent no more.',
};

const SIGNATURE = {
  name: 'Svc-Signature',
  in: 'header',
  required: true,
  description:
    '`t=<unix_ts>,v1=<hex>`: HMAC-SHA256 of `<t>.<rawBody>` with the signing secret. Refuse what is more than five minutes away from now.',
  schema: { type: 'string' },
};

const EVENT_ID = {
  name: 'Svc-Event-Id',
  in: 'header',
  required: true,
  description: 'The `id` of the event, the same for every attempt: use it to deduplicate.',
  schema: { type: 'string' },
};

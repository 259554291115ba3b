/** Routes that apply a seed file to a workspace or to one application, and the route of its schema. */
import { Type } from '@sinclair/typebox';
import { answerTagged, type Tagged, tagged } from '../../http/etag.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { seedSchema } from './json-schema.ts';
import { ApplyApplicationInput, ApplyInput, ApplyResult } from './model.ts';
import type { Seed } from './service.ts';

const DANGER = 'It changes all that the document names, and may open a gate, which mails everybody who waits.';
const DESCRIPTION =
  'The whole document is judged before anything is changed. What is left out stays as it is, and nothing is ever removed: ' +
  'applied again it changes nothing. It is done in several changes, with an event and a record of each as by the calls ' +
  'for one thing; cut off in between, it can be sent again. With `dryRun` it only says what would change. ' +
  'Secrets stand in `secrets`, by the names that the document refers to. Files with many users are sent in parts: ' +
  '`gatehouse apply` does that.';

export function seedRoutes(seed: Seed): Operation[] {
  // Built once, at the first call.
  let schema: Tagged | undefined;
  const common = {
    tag: 'Workspace',
    method: 'POST',
    access: 'full',
    limit: 'key',
    danger: DANGER,
    isNoTool: true,
  } as const;
  return [
    operation({
      ...common,
      id: 'applyDocument',
      path: '/api/workspace/apply',
      summary: 'Bring applications, grants, users, webhooks and keys to what a document says',
      description: DESCRIPTION,
      scope: 'workspace',
      body: ApplyInput,
      data: ApplyResult,
      errors: ['conflict', 'invalid_state'],
      handle: ({ actor, principal, workspaceId, body: { document, secrets = {}, dryRun = false } }) =>
        seed.apply({ actor, principal, workspaceId }, document, {
          secrets: ownOf(secrets),
          isDryRun: dryRun,
          place: 'document.',
        }),
    }),
    operation({
      ...common,
      id: 'applyToApplication',
      path: '/api/applications/:id/apply',
      summary: 'Bring one application to what a document says of it',
      description: DESCRIPTION,
      scope: 'application',
      body: ApplyApplicationInput,
      data: ApplyResult,
      errors: ['conflict', 'invalid_state'],
      handle({ actor, principal, application, body: { application: wanted, secrets = {}, dryRun = false } }) {
        const doer = { actor, principal, workspaceId: application.workspaceId };
        const options = { secrets: ownOf(secrets), isDryRun: dryRun, place: 'application' };
        return seed.applyTo(doer, application, wanted, options);
      },
    }),
    operation({
      id: 'getSeedSchema',
      tag: 'Descriptions',
      method: 'GET',
      path: '/gatehouse.schema.json',
      access: 'none',
      scope: 'instance',
      limit: 'none',
      style: 'flat',
      summary: 'JSON Schema of the file that gatehouse apply and serve --seed take',
      data: Type.Object({}, { additionalProperties: true }),
      isRevalidated: true,
      handle({ context }) {
        schema ??= tagged(JSON.stringify(seedSchema()));
        return answerTagged(context, schema, { mediaType: 'application/json' });
      },
    }),
  ];
}

/** Reads only own properties, so that a name such as `constructor` finds nothing. */
function ownOf(secrets: Readonly<Record<string, string>>) {
  return (name: string) => (Object.hasOwn(secrets, name) ? secrets[name] : undefined);
}

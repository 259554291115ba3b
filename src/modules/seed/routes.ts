import { Type } from '@sinclair/typebox';
import { answerTagged, type Tagged, tagged } from '../../http/etag.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { seedSchema } from './json-schema.ts';
import { ApplyApplicationInput, ApplyInput, ApplyResult } from './model.ts';
import type { Seed } from './service.ts';

const DANGER = 'It changes all that the document names, and may open a gate, which mails everybody who waits.';
const DESCRIPTION =
  'The whole document is validated before anything changes. Omitted parts stay unchanged and nothing ' +
  'is ever removed, so applying it again changes nothing. Each change is recorded and emits its event, ' +
  'like the single call for it; an interrupted call can be repeated. `dryRun` only reports the ' +
  'changes. `secrets` has the secrets by the names that the document refers to. Send files with many ' +
  'users in parts, as `gatehouse apply` does.';

export function seedRoutes(seed: Seed): Operation[] {
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
      summary: 'Apply a document of applications, grants, users, webhooks and keys',
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
      summary: 'Apply a document to one application',
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
      summary: 'JSON Schema of the file for gatehouse apply and serve --seed',
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

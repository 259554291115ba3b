import { Type } from '@sinclair/typebox';
import { answerTagged, tagged } from '../../http/etag.ts';
import type { LimitSettings } from '../../http/limits.ts';
import { type Operation, operation } from '../../http/operation.ts';
import { Choice } from '../../http/schemas.ts';
import { openApiDocument } from './openapi.ts';
import type { DescriptionPart } from './parts.ts';
import { roleManifest } from './roles.ts';
import { yaml } from './yaml.ts';

export interface DescriptionDependencies {
  readonly operations: () => readonly Operation[];
  readonly baseUrl: () => string;
  readonly limits: LimitSettings;
}

const PartQuery = Type.Object({
  part: Type.Optional(
    Choice(['all'], { description: 'Adds the operations of the account page, the workspace and the instance.' }),
  ),
});

/** Computes a value once for each part. */
function onceFor<Value>(
  compute: (part: DescriptionPart) => Promise<Value>,
): (part?: DescriptionPart) => Promise<Value> {
  const values = new Map<DescriptionPart, Promise<Value>>();
  return (part = 'application') => {
    const value = values.get(part) ?? compute(part);
    values.set(part, value);
    return value;
  };
}

export async function openApiYaml(
  operations: readonly Operation[],
  baseUrl: string,
  part: DescriptionPart,
): Promise<string> {
  return yaml(await openApiDocument(operations, baseUrl, part));
}

export function descriptionRoutes({ operations, baseUrl, limits }: DescriptionDependencies): Operation[] {
  // Each is built at the first call and cached: it takes a while and cannot change while the process runs.
  const described = onceFor((part) => openApiDocument(operations(), baseUrl(), part));
  const asYaml = onceFor(async (part) => tagged(await yaml(await described(part))));
  const asJson = onceFor(async (part) => tagged(JSON.stringify(await described(part))));
  const common = {
    method: 'GET',
    tag: 'Descriptions',
    access: 'none',
    scope: 'instance',
    limit: 'none',
    style: 'flat',
  } as const;
  return [
    operation({
      ...common,
      id: 'getOpenApi',
      path: '/openapi.yaml',
      summary: 'Read this description',
      mediaType: 'application/yaml',
      isRevalidated: true,
      query: PartQuery,
      async handle({ context, query }) {
        return answerTagged(context, await asYaml(query.part), { mediaType: 'application/yaml' });
      },
    }),
    operation({
      ...common,
      id: 'getOpenApiJson',
      path: '/openapi.json',
      summary: 'Read this description, as JSON',
      data: Type.Object({}, { additionalProperties: true }),
      isRevalidated: true,
      query: PartQuery,
      async handle({ context, query }) {
        return answerTagged(context, await asJson(query.part), { mediaType: 'application/json' });
      },
    }),
    operation({
      ...common,
      id: 'getRoleManifest',
      path: '/openapi.roles.json',
      summary: 'Read which principal each operation needs',
      data: Type.Object({
        version: Type.String(),
        limits: Type.Record(Type.String(), Type.String(), {
          description: 'Limits on callers in this instance.',
        }),
        operations: Type.Array(
          Type.Object({
            operationId: Type.String(),
            method: Type.String(),
            path: Type.String(),
            access: Type.String(),
            consoleRole: Type.Optional(Type.String()),
            limit: Type.String(),
            readOnly: Type.Boolean(),
            destructive: Type.Boolean({ description: 'The operation loses data or cannot be undone.' }),
            confirm: Type.Boolean({
              description:
                'Agents ask for confirmation: it is destructive, gives access or a secret, or sends data elsewhere.',
            }),
            idempotent: Type.Boolean(),
          }),
        ),
      }),
      handle: () => roleManifest(operations(), limits),
    }),
  ];
}

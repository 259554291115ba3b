/** The machine-readable descriptions of the API, made once from the operations themselves. */
import { Type } from '@sinclair/typebox';
import { nextTurn } from '../../core/turn.ts';
import { openApiDocument, roleManifest } from './openapi.ts';
import { matchesEtag } from '../../http/etag.ts';
import type { LimitSettings } from '../../http/limits.ts';
import { type Operation, operation } from '../../http/operation.ts';

export interface DescriptionDependencies {
  /** All operations of the running app, these included. */
  readonly operations: () => readonly Operation[];
  readonly baseUrl: () => string;
  readonly limits: LimitSettings;
}

/** The OpenAPI description as YAML. */
export async function openApiYaml(
  operations: readonly Operation[],
  baseUrl: string,
  limits: LimitSettings,
): Promise<string> {
  const document = await openApiDocument(operations, baseUrl, limits);
  // Each half takes tens of milliseconds.
  await nextTurn();
  // A bare time is a date to YAML 1.1, not the text that it is.
  return Bun.YAML.stringify(document, null, 2).replace(/^(.*(?:: |- ))(\d{4}-\d\d-\d\dT[\d:.]+Z)$/gm, '$1"$2"');
}

/** The description as it is sent. */
interface Description {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

async function describe({ operations, baseUrl, limits }: DescriptionDependencies): Promise<Description> {
  const bytes = new TextEncoder().encode(await openApiYaml(operations(), baseUrl(), limits));
  return { bytes, etag: `"${Bun.hash(bytes).toString(36)}"` };
}

export function descriptionRoutes(dependencies: DescriptionDependencies): Operation[] {
  /** Made at the first call, for good: it takes a while, and cannot change while the process runs. */
  let description: Promise<Description> | undefined;
  return [
    operation({
      id: 'getOpenApi',
      method: 'GET',
      path: '/openapi.yaml',
      summary: 'This description',
      tag: 'Descriptions',
      access: 'none',
      scope: 'instance',
      limit: 'none',
      style: 'flat',
      mediaType: 'application/yaml',
      async handle({ context }) {
        const { bytes, etag } = await (description ??= describe(dependencies));
        const headers = { ...context.headers, ETag: etag };
        if (matchesEtag(context.request.headers.get('if-none-match'), etag))
          return new Response(null, { status: 304, headers });
        return new Response(bytes, { headers: { ...headers, 'Content-Type': 'application/yaml; charset=utf-8' } });
      },
    }),
    operation({
      id: 'getRoleManifest',
      method: 'GET',
      path: '/openapi.roles.json',
      summary: 'Which principal each operation needs',
      tag: 'Descriptions',
      access: 'none',
      scope: 'instance',
      limit: 'none',
      style: 'flat',
      data: Type.Object({
        version: Type.String(),
        limits: Type.Record(Type.String(), Type.String(), {
          description: 'What each limit holds a caller to in this instance.',
        }),
        operations: Type.Array(
          Type.Object({
            operationId: Type.String(),
            method: Type.String(),
            path: Type.String(),
            access: Type.String(),
            consoleRole: Type.Optional(Type.String()),
            limit: Type.String(),
          }),
        ),
      }),
      handle: () => roleManifest(dependencies.operations(), dependencies.limits),
    }),
  ];
}

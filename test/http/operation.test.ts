/** What an operation knows of itself by its declaration: the type check is the test. */
import { expect, test } from 'bun:test';
import { operation } from '@/http/operation.ts';

const common = { tag: 'Test', summary: 'Test', method: 'GET', access: 'read', limit: 'key' } as const;

test('the path names the parameters, and the scope what is acted on', () => {
  const base = '/api/applications/:id/things';
  const { path } = operation({
    ...common,
    id: 'getThing',
    path: `${base}/:thingId/parts/:partId`,
    scope: 'application',
    handle({ params, application, workspaceId }) {
      const known: string[] = [params.id, params.thingId, params.partId, application.workspaceId];
      // @ts-expect-error the path has no such parameter
      const unknown: string = params.things;
      // @ts-expect-error what acts on an application acts on no workspace
      const whole: string = workspaceId;
      return Response.json([known, unknown, whole]);
    },
  });
  operation({
    ...common,
    id: 'listThings',
    path: '/api/things',
    scope: 'workspace',
    handle({ params, workspaceId }) {
      const known: string = workspaceId;
      // @ts-expect-error the path has no parameter at all
      const unknown: string = params.id;
      return Response.json([known, unknown]);
    },
  });
  expect(path).toBe('/api/applications/:id/things/:thingId/parts/:partId');
});

/** Types that an operation derives from its declaration. The type check is the test. */
import { expect, test } from 'bun:test';
import { operation } from '@/http/operation.ts';

const common = { tag: 'Test', summary: 'Test', method: 'GET', access: 'read', limit: 'key' } as const;

test('an operation types its parameters by its path and its target by its scope', () => {
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
      // @ts-expect-error an application operation has no workspace
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
      // @ts-expect-error the path has no parameters
      const unknown: string = params.id;
      return Response.json([known, unknown]);
    },
  });
  expect(path).toBe('/api/applications/:id/things/:thingId/parts/:partId');
});

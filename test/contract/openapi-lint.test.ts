import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test } from 'bun:test';
import { createInstance } from '../support/instance.ts';

test('the description has neither error nor warning in the eyes of a linter that we did not write, at its strictest', async () => {
  const instance = await createInstance();
  const { text } = await instance.call('GET', '/openapi.yaml');
  const problems = await lintFromString({
    source: text,
    config: await createConfig({ extends: ['recommended-strict'] }),
  });
  // What sends the browser on succeeds with 302, and has no 2xx to describe.
  const redirects = instance.app.operations.filter(({ isRedirect, isUndocumented }) => isRedirect && !isUndocumented);
  const of302 = redirects.map(
    ({ path, method }) => `#/paths/${path.replaceAll('/', '~1')}/${method.toLowerCase()}/responses`,
  );
  const others = problems.filter(
    ({ ruleId, location: [at] }) => ruleId !== 'operation-2xx-response' || !of302.includes(at?.pointer ?? ''),
  );
  expect(others.map(({ ruleId, message, location: [at] }) => `${ruleId}: ${message} ${at?.pointer}`)).toEqual([]);
});

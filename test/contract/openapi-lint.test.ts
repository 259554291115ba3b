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
  expect(problems.map(({ ruleId, message, location: [at] }) => `${ruleId}: ${message} ${at?.pointer}`)).toEqual([]);
});

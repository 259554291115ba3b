import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test } from 'bun:test';
import { createInstance } from '../support/instance.ts';

test('the description has no error in the eyes of a linter that we did not write', async () => {
  const { text } = await (await createInstance()).call('GET', '/openapi.yaml');
  const problems = await lintFromString({
    source: text,
    config: await createConfig({ extends: ['recommended'] }),
  });
  const errors = problems.filter(({ severity }) => severity === 'error');
  expect(errors.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
});

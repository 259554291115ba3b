import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test } from 'bun:test';
import { createInstance } from '../support/instance.ts';

test.each(['', '?part=all'])(
  'a third-party linter at its strictest finds nothing in the description%s',
  async (part) => {
    const instance = await createInstance();
    const { text } = await instance.call('GET', `/openapi.yaml${part}`);
    const problems = await lintFromString({
      source: text,
      config: await createConfig({ extends: ['recommended-strict'] }),
    });
    expect(problems.map(({ ruleId, message, location: [at] }) => `${ruleId}: ${message} ${at?.pointer}`)).toEqual([]);
  },
);

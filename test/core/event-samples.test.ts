import { expect, test } from 'bun:test';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import { EVENT_SAMPLES } from '@/core/event-samples.ts';
import { EVENT_SCHEMAS, EVENT_TYPES } from '@/core/event.ts';

test.each(EVENT_TYPES)('the sample of %s has the fields of its schema, and no others', (type) => {
  const schema = EVENT_SCHEMAS[type];
  expect([...TypeCompiler.Compile(schema).Errors(EVENT_SAMPLES[type])]).toEqual([]);
  expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(Object.keys(EVENT_SAMPLES[type])));
});

/** Failures of pipelined statements, in the order of the server: answers that are read at once arrive in one turn. */
import { expect, test } from 'bun:test';
import { postgresConnection, sharedStatements } from '@/db/postgres/connection.ts';
import type { Run } from '@/db/postgres/driver.ts';
import { mails } from '@/store/schema/records.ts';
import { pipelineOn } from '@/db/postgres/pipeline.ts';

const CONFLICT = new Error('could not serialize access');
const ABORTED = new Error('current transaction is aborted');

test('the first failure is kept, though a builder passes it on later than the next statement passes on its own', async () => {
  const answers: (() => void)[] = [];
  const run: Run = () => {
    const { promise, reject } = Promise.withResolvers<never>();
    const error = answers.length === 0 ? CONFLICT : ABORTED;
    answers.push(() => reject(error));
    return promise;
  };
  const pipeline = pipelineOn(run);
  const connection = postgresConnection({ run: pipeline.run, statements: sharedStatements() });
  const builder = connection.orm.select().from(mails).prepare();
  await pipeline.pipelined(() => connection.execute(builder, {}));
  await pipeline.pipelined(() => pipeline.run('second', []));
  expect(answers).toHaveLength(2);
  for (const answer of answers) answer();
  // After every promise of the two.
  await new Promise((resolve) => setImmediate(resolve));
  expect(pipeline.failure()).toBe(CONFLICT);
});

/** Failures of pipelined statements, in the order of the server: answers that are read at once arrive in one turn. */
import { expect, test } from 'bun:test';
import { postgresConnection, sharedStatements } from '@/db/postgres/connection.ts';
import type { Run } from '@/db/postgres/driver.ts';
import { mails } from '@/store/schema/records.ts';
import { pipelineOn } from '@/db/postgres/pipeline.ts';

const CONFLICT = Object.assign(new Error('could not serialize access'), { errno: '40001' });
const ABORTED = Object.assign(new Error('current transaction is aborted'), { errno: '25P02' });

/** A pipeline whose first statement conflicts; `answer` lets the server answer all of them in one turn. */
function conflicting() {
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
  return {
    pipeline,
    /** A statement whose failure passes through more promises than that of a plain one. */
    built: () => connection.execute(builder, {}),
    plain: () => pipeline.run('SELECT 1', []),
    answer: () => answers.forEach((reject) => reject()),
  };
}

test('the first failure of pipelined statements is kept, though a later one is passed on sooner', async () => {
  const { pipeline, built, plain, answer } = conflicting();
  await pipeline.pipelined(built);
  await pipeline.pipelined(plain);
  answer();
  // After every promise of the two.
  await new Promise((resolve) => setImmediate(resolve));
  expect(pipeline.failure()).toBe(CONFLICT);
});

test('concurrent statements fail by the first failure, though a later one is passed on sooner', async () => {
  const { built, plain, answer } = conflicting();
  const both = Promise.all([built(), plain()]);
  answer();
  expect(both).rejects.toBe(CONFLICT);
});

test('a statement behind a pipelined one fails by its failure', async () => {
  const { pipeline, built, plain, answer } = conflicting();
  await pipeline.pipelined(built);
  const behind = plain();
  answer();
  expect(behind).rejects.toBe(CONFLICT);
});

test('a pipelined statement behind a failed one keeps its failure', async () => {
  const { pipeline, plain, answer } = conflicting();
  const first = plain();
  await pipeline.pipelined(plain);
  answer();
  expect(first).rejects.toBe(CONFLICT);
  await first.catch(() => {});
  await new Promise((resolve) => setImmediate(resolve));
  expect(pipeline.failure()).toBe(CONFLICT);
});

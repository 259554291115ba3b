/**
 * A bare Elysia server for comparison: one POST that reads a JSON body and answers a constant.
 * Usage: bun test/bench/bare.ts PORT
 */
import { Elysia } from 'elysia';

const answer = { success: true, data: { userId: 'usr_', email: 'ada@example.com', roles: ['user'], scopes: [] } };

new Elysia()
  .post('/api/v1/verify', ({ body }) => (body ? answer : null))
  .post('/api/v1/session', ({ body }) => (body === undefined ? answer : null))
  .listen({ port: Number(process.argv[2]), hostname: '127.0.0.1' });

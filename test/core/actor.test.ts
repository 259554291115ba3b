import { expect, test } from 'bun:test';
import { type Actor, onBehalfOf } from '@/core/actor.ts';

test('an actor in the name of a person keeps the request id and address of the call', () => {
  let asked = 0;
  class Call implements Actor {
    readonly type = 'anonymous';
    readonly userId = null;
    readonly apiKeyId = null;
    readonly requestId = 'req_1';
    readonly ipCountry = 'AT';
    get ip() {
      asked += 1;
      return '192.0.2.1';
    }
  }
  const actor: Actor = onBehalfOf<Actor>(new Call(), 'usr_1');
  const { type, userId, apiKeyId, requestId } = actor;
  expect({ type, userId, apiKeyId, requestId, asked }).toEqual({
    type: 'user',
    userId: 'usr_1',
    apiKeyId: null,
    requestId: 'req_1',
    asked: 0,
  });
  expect([actor.ip, actor.ipCountry]).toEqual(['192.0.2.1', 'AT']);
});

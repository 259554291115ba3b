/** The catalogue of event types that applications can subscribe to, with the data each carries. */

export type SignInMethod = 'otp' | 'setup';

export interface EventData {
  'user.signed_in': { userId: string; sessionId: string; method: SignInMethod };
  'user.signed_out': { userId: string; sessionId: string };
  'user.reactivated': { userId: string };
}

export type EventType = keyof EventData;

/** One event, as the operation that causes it reports it; id and time are added by the unit of work. */
export type DomainEvent = {
  [Type in EventType]: { readonly type: Type; readonly applicationId: string; readonly data: EventData[Type] };
}[EventType];

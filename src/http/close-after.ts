/** Ends the connection with an answer (RFC 9112 §9.6): the client opens a new one for its next request. */
export function closeAfter(answer: Response): Response {
  answer.headers.set('Connection', 'close');
  return answer;
}

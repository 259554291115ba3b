/** Scripts of requests for wrk: Lua that defines `request`. */
import { linesFrom } from './wrk.ts';

const JSON_HEADERS = '{ ["Content-Type"] = "application/json" }';

/** Lua of a function that returns this thread's lines only: one sign-in has one caller. */
const ownLines = (name: string, path: string) => `${linesFrom(`${name}_of_all`, path)}
  local begun = false
  local function ${name}()
    for _ = 1, begun and threads - 1 or thread do ${name}_of_all() end
    begun = true
    return ${name}_of_all()
  end`;

/** Requests that are built before the load: wrk's garbage collector would scan many more again and again. */
const MOST_BUILT = 20_000;

/**
 * Requests that differ in the token alone, in turn by several callers: building each anew would take the client as long
 * as the server.
 */
const tokenScript = (tokens: string, requests: readonly string[]) => `${ownLines('token', tokens)}
  local heads, tail, built = {}, "", {}
  init = function()
    local first = token()
    for at, whole in ipairs({ ${requests.join(', ')} }) do
      local from, to = whole:find(first, 1, true)
      heads[at], tail = whole:sub(1, from - 1), whole:sub(to + 1)
    end
    local count = math.floor(token_of_all_count / threads)
    if count > ${MOST_BUILT} then return end
    for at = 1, count do built[at] = heads[at % #heads + 1] .. token() .. tail end
  end
  local turn = 0
  request = function()
    turn = turn + 1
    if #built > 0 then return built[turn % #built + 1] end
    return heads[turn % #heads + 1] .. token() .. tail
  end`;

/** Calls with a token each. @param tokens path of a file with one a line. */
export const bearerScript = (tokens: string, method: string, path: string) =>
  tokenScript(tokens, [`wrk.format("${method}", "${path}", { ["Authorization"] = "Bearer " .. first })`]);

/** Verifies tokens with keys in turn: one alone may call 1,000,000 times a minute. @param tokens path of a file with one a line. */
export const verifyScript = (tokens: string, keys: readonly string[]) =>
  tokenScript(
    tokens,
    keys.map(
      (key) => `wrk.format("POST", "/api/v1/verify",
       { ["Authorization"] = "Bearer ${key}", ["Content-Type"] = "application/json" },
       '{"token":"' .. first .. '"}')`,
    ),
  );

/** Codes go to new people, so that each sign-in creates an account; their addresses are in no order, as anywhere. */
export const sendScript = (round: number, path: string, body: string) => `local turn = 0
  request = function()
    turn = turn + 1
    local scattered = turn * 7919 % 1000003
    local email = scattered .. "." .. ${round} .. "." .. thread .. "@example.com"
    return wrk.format("POST", "${path}", ${JSON_HEADERS}, ${body})
  end`;

/** Writes bodies to a file, and sends each once. */
export async function postLines(path: string, target: string, bodies: readonly string[]): Promise<string> {
  await Bun.write(path, bodies.join('\n'));
  return `${ownLines('body', path)}
    request = function() return wrk.format("POST", "${target}", ${JSON_HEADERS}, body()) end`;
}

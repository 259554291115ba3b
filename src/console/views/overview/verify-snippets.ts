/** How a backend verifies a session, in the languages and frameworks people ask for. */
import type { Snippet } from '../../components/snippets.tsx';

interface Filling {
  readonly key: string | null;
  /** The session token; empty if unknown. */
  readonly token: string;
}

export function verifySnippets(origin: string, filling: Filling): Snippet[] {
  const key = filling.key ?? 'eak_…';
  // Typed by hand, and pasted between quotes of a shell: nothing but word characters.
  const token = /^\w+$/.test(filling.token) ? filling.token : 'est_…';
  const verifier = `import { createVerifier, NotAdmitted } from 'gatehouse';

const gatehouse = createVerifier({ url: '${origin}', apiKey: '${key}' });`;
  return [
    {
      name: 'curl',
      code: `curl ${origin}/api/v1/verify \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '{"token":"${token}"}'`,
    },
    {
      name: 'TypeScript',
      variants: [
        {
          name: 'No framework',
          code: `${verifier}

export async function whoIsCalling(request: Request) {
  try {
    return await gatehouse.requireSession(request);
  } catch (error) {
    if (error instanceof NotAdmitted) return error.response; // 401, 403, 429 or 503
    throw error;
  }
}`,
        },
        {
          name: 'Express',
          code: `${verifier}

app.use(async (req, res, next) => {
  try {
    res.locals.user = await gatehouse.requireSession(req);
  } catch (error) {
    if (error instanceof NotAdmitted) return error.sendTo(res); // 401, 403, 429 or 503
    return next(error);
  }
  next();
});`,
        },
        {
          name: 'Hono',
          code: `${verifier}

app.use(async (c, next) => {
  try {
    c.set('user', await gatehouse.requireSession(c.req.raw));
  } catch (error) {
    if (error instanceof NotAdmitted) return error.response; // 401, 403, 429 or 503
    throw error;
  }
  await next();
});`,
        },
        {
          name: 'Next.js',
          code: `// app/api/me/route.ts
${verifier}

export async function GET(request: Request) {
  try {
    const { userId, email, roles } = await gatehouse.requireSession(request);
    return Response.json({ userId, email, roles });
  } catch (error) {
    if (error instanceof NotAdmitted) return error.response; // 401, 403, 429 or 503
    throw error;
  }
}`,
        },
        {
          name: 'Without the npm package',
          code: `const response = await fetch('${origin}/api/v1/verify', {
  method: 'POST',
  headers: { authorization: 'Bearer ${key}', 'content-type': 'application/json' },
  body: JSON.stringify({ token }),
  signal: AbortSignal.timeout(5000),
});
const verdict = await response.json();
if (!verdict.success) throw new Error(verdict.errorMessage);
const { userId, email, roles } = verdict.data;`,
        },
      ],
    },
    {
      name: 'Python',
      variants: [
        {
          name: 'No framework',
          code: `import json, urllib.request

request = urllib.request.Request(
    "${origin}/api/v1/verify",
    data=json.dumps({"token": token}).encode(),
    headers={"Authorization": "Bearer ${key}", "Content-Type": "application/json"},
)
verdict = json.load(urllib.request.urlopen(request, timeout=5))
if not verdict["success"]:
    raise PermissionError(verdict["errorMessage"])
user_id = verdict["data"]["userId"]`,
        },
        {
          name: 'FastAPI',
          code: `import json, urllib.request
from fastapi import Depends, HTTPException
from fastapi.security import HTTPBearer

def current_user(bearer=Depends(HTTPBearer())):
    request = urllib.request.Request(
        "${origin}/api/v1/verify",
        data=json.dumps({"token": bearer.credentials}).encode(),
        headers={"Authorization": "Bearer ${key}", "Content-Type": "application/json"},
    )
    try:
        verdict = json.load(urllib.request.urlopen(request, timeout=5))
    except OSError:
        raise HTTPException(503)
    if not verdict["success"]:
        raise HTTPException(401, verdict["errorMessage"])
    return verdict["data"]

@app.get("/me")
def me(user=Depends(current_user)):
    return {"userId": user["userId"]}`,
        },
      ],
    },
    {
      name: 'Go',
      code: `body, _ := json.Marshal(map[string]string{"token": token})
request, _ := http.NewRequest("POST", "${origin}/api/v1/verify", bytes.NewReader(body))
request.Header.Set("Authorization", "Bearer ${key}")
request.Header.Set("Content-Type", "application/json")
response, err := (&http.Client{Timeout: 5 * time.Second}).Do(request)
if err != nil {
    return err
}
defer response.Body.Close()
var verdict struct {
    Success      bool   \`json:"success"\`
    ErrorMessage string \`json:"errorMessage"\`
    Data         struct{ UserID string \`json:"userId"\` } \`json:"data"\`
}
if err := json.NewDecoder(response.Body).Decode(&verdict); err != nil {
    return err
}
if !verdict.Success {
    return errors.New(verdict.ErrorMessage)
}`,
    },
    {
      name: 'PHP',
      variants: [
        {
          name: 'No framework',
          code: `$call = curl_init('${origin}/api/v1/verify');
curl_setopt_array($call, [
    CURLOPT_POSTFIELDS => json_encode(['token' => $token]),
    CURLOPT_HTTPHEADER => ['Authorization: Bearer ${key}', 'Content-Type: application/json'],
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_TIMEOUT => 5,
]);
$verdict = json_decode(curl_exec($call), true, 512, JSON_THROW_ON_ERROR);
if ($verdict['success'] !== true) {
    throw new DomainException($verdict['errorMessage']);
}
$userId = $verdict['data']['userId'];`,
        },
        {
          name: 'Laravel',
          code: `// app/Http/Middleware/VerifySession.php
public function handle(Request $request, Closure $next): Response
{
    abort_if($request->bearerToken() === null, 401);
    $verdict = Http::withToken('${key}')->timeout(5)->post('${origin}/api/v1/verify', [
        'token' => $request->bearerToken(),
    ]);
    abort_unless($verdict->ok(), 503);
    abort_unless($verdict->json('success'), 401, $verdict->json('errorMessage') ?? '');
    $request->attributes->set('user', $verdict->json('data'));
    return $next($request);
}`,
        },
      ],
    },
  ];
}

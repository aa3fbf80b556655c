// The API's description (api/openapi.yaml, as the server hands it out), and a strict reader of answers: what is not
// described there is an error, be it a status, a reason, a header or a single member.
import addFormats from 'ajv-formats';
import Ajv2020 from 'ajv/dist/2020.js';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Clients must bear members that they do not know; our own tests must not. */
function withoutUnknownMembers(node) {
  if (Array.isArray(node)) return node.map(withoutUnknownMembers);
  if (node === null || typeof node !== 'object') return node;
  const copy = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, withoutUnknownMembers(value)]));
  const closed = copy.type === 'object' && copy.properties && copy.additionalProperties === undefined;
  return closed ? { ...copy, additionalProperties: false } : copy;
}

export class Description {
  #ajv = addFormats(new Ajv2020({ strict: false, allErrors: true }));
  #validators = new Map();
  seen = new Set(); // "operationId status reason", of all answers that were checked

  constructor(document) {
    this.document = document;
    this.strict = withoutUnknownMembers(document);
  }

  /** { path, method, operation } of every operation. */
  get operations() {
    return Object.entries(this.strict.paths).flatMap(([path, item]) =>
      METHODS.filter((method) => item[method]).map((method) => ({ path, method: method.toUpperCase(), operation: item[method] })));
  }

  resolve(node) {
    while (node?.$ref) {
      node = node.$ref.slice(2).split('/').reduce((at, step) => at[step], this.strict);
    }
    return node;
  }

  /** What is wrong with the value, in words; null when nothing is. */
  problem(schema, value) {
    let validate = this.#validators.get(schema);
    if (!validate) {
      validate = this.#ajv.compile({ allOf: [schema], components: this.strict.components });
      this.#validators.set(schema, validate);
    }
    return validate(value) ? null : `${this.#ajv.errorsText(validate.errors)}: ${JSON.stringify(value).slice(0, 500)}`;
  }

  /** The operation that a request means; undefined when there is none. */
  find(method, target) {
    let path = target.split('?')[0];
    if (path.startsWith('/api/') && !path.startsWith('/api/v1/')) path = path.replace('/api/', '/api/v1/');
    const matches = (template) => new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);
    const candidates = this.operations.filter((one) => one.method === method && matches(one.path));
    return (candidates.find((one) => one.path === path) ?? candidates[0])?.operation;
  }

  /** Which reasons a response can have: [null] where it has none. `wrap` shows another form of the same. */
  reasons(response) {
    const schema = Object.values(this.resolve(response).content ?? {})[0]?.schema;
    const alternatives = schema?.oneOf ?? [schema];
    const found = alternatives.flatMap((one) => {
      const part = [...(one?.allOf ?? []), this.resolve(one)].find((each) => each?.properties?.reason ?? each?.properties?.error);
      const reason = part?.properties.reason ?? part?.properties.error;
      return reason?.enum ?? (reason?.const ? [reason.const] : []);
    });
    return found.length ? found : [null];
  }

  #complaint(response, { status, headers, text }) {
    const { content = {}, headers: named = {} } = this.resolve(response);
    for (const [name, header] of Object.entries(named)) {
      const { schema } = this.resolve(header);
      const value = headers[name.toLowerCase()];
      if (value === undefined) return `the header ${name} is missing`;
      const wrong = this.problem(schema, schema.type === 'integer' ? Number(value) : value);
      if (wrong) return `${name}: ${wrong}`;
    }
    const type = headers['content-type']?.split(';')[0];
    if (Object.keys(content).length === 0) return text === '' && !type ? null : `${status} has no body`;
    if (!content[type]) return `the type ${type}`;
    return this.problem(content[type].schema, type === 'application/json' ? JSON.parse(text) : text);
  }

  /** Fails unless the answer { status, headers, text } is one that the description has for this request. */
  check(method, target, answer) {
    const operation = this.find(method, target);
    const request = `${method} ${target} → ${answer.status}`;
    const complaints = [];
    for (const [owner, responses] of [[operation?.operationId, operation?.responses], ['anywhere', this.strict['x-anywhere']]]) {
      const response = responses?.[answer.status];
      if (!response) continue;
      const complaint = this.#complaint(response, answer);
      if (!complaint) {
        this.seen.add([owner, answer.status, this.#reasonOf(response, answer)].join(' '));
        return answer;
      }
      complaints.push(complaint);
    }
    throw new Error(`${request} is not described: ${complaints.join('; or ') || 'no such status'}`);
  }

  #reasonOf(response, { text }) {
    if (this.reasons(response)[0] === null) return null;
    const body = JSON.parse(text);
    const inner = body.gatewayWrapped ? body.body : body;
    return inner.success ? null : (inner.reason ?? inner.error);
  }

  /** "operationId status reason" of everything that is described. */
  get described() {
    const rows = [...this.operations.map(({ operation }) => [operation.operationId, operation.responses]), ['anywhere', this.strict['x-anywhere']]];
    return rows.flatMap(([owner, responses]) =>
      Object.entries(responses).flatMap(([status, response]) => this.reasons(response).map((reason) => [owner, status, reason].join(' '))));
  }

  /** { where, schema, value } of every example, wherever it stands. */
  *examples(node = this.strict, where = '#') {
    if (node === null || typeof node !== 'object') return;
    if (node.schema && node.examples)
      for (const [name, example] of Object.entries(node.examples)) yield { where: `${where}/${name}`, schema: node.schema, value: example.value };
    if (node.schema && node.example !== undefined) yield { where, schema: node.schema, value: node.example };
    for (const [name, value] of Object.entries(node)) yield* this.examples(value, `${where}/${name}`);
  }
}

/** A function that does nothing: what it takes to start is Node's own. */
export const handler = async () => ({ statusCode: 200 });

/** A function that does nothing: measures Node's own start. */
export const handler = async () => ({ statusCode: 200 });

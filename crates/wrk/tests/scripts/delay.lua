-- Waits between 10 and 50 ms before each request.

function delay()
  return math.random(10, 50)
end

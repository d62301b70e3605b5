-- Posts a form.

wrk.method = "POST"
wrk.body = "name=plimsoll&mark=1876"
wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"

"""Constructed cases by rule and dialect: a question, a right query, and its broken twin.

The queries are written in the first dialect named and carried over to the others by sqlglot, so that every case is
judged in the words of each dialect. What benchmarks hardly hold is here: tolerances, benign filters, wrong ends of
an order, dropped negations, windows, deep nesting.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Case(NamedTuple):
    """One case."""

    rule: str
    dialects: str
    question: str
    right: str
    broken: str
    rules: dict[str, Any] = {}  # noqa: RUF012 (never written to)


COMMON = "sqlite postgres mysql bigquery"
WINDOWS = "postgres snowflake bigquery duckdb"
BENIGN = {"benign_filters": [{"column": "is_deleted", "operator": "=", "value": "0"}]}
TENANT = {"benign_filters": [{"column": "tenant_id"}]}
REVENUE = {"metrics": {"revenue": "SUM(amount)"}}
REGION = {"column_mappings": {"region": ["A3"]}}
MALE = {"value_synonyms": {"male": ["M"]}}
LAMBDA = {"lambda_min": 100}

CASES: tuple[Case, ...] = (
    # required GROUP BY
    Case("required_group_by", COMMON, "How many orders does each customer have?",
         "SELECT customer, COUNT(*) FROM orders GROUP BY customer", "SELECT COUNT(*) FROM orders"),
    Case("required_group_by", COMMON, "Show the average salary per department.",
         "SELECT department, AVG(salary) FROM employee GROUP BY department", "SELECT department, AVG(salary) FROM employee"),
    Case("required_group_by", "sqlite postgres", "What is the total amount for every region?",
         "SELECT region, SUM(amount) FROM sales GROUP BY region", "SELECT region, amount FROM sales"),
    Case("required_group_by", "sqlite mysql", "Show the highest price in each category.",
         "SELECT category, MAX(price) FROM product GROUP BY category", "SELECT MAX(price) FROM product"),
    # benign GROUP BY
    Case("benign_group_by", COMMON, "What is the average age of singers from 'France'?",
         "SELECT AVG(age) FROM singer WHERE country = 'France' GROUP BY country",
         "SELECT AVG(age) FROM singer GROUP BY country"),
    Case("benign_group_by", "sqlite snowflake", "Count the orders with status 'open'.",
         "SELECT COUNT(*) FROM orders WHERE status = 'open' GROUP BY status",
         "SELECT COUNT(*) FROM orders GROUP BY status"),
    Case("benign_group_by", "postgres mysql", "What is the total amount of sales in year 2020?",
         "SELECT SUM(amount) FROM sales WHERE year = 2020 GROUP BY year", "SELECT SUM(amount) FROM sales GROUP BY year"),
    # default ORDER BY
    Case("default_order", COMMON, "How many employees work in each city?",
         "SELECT city, COUNT(*) AS n FROM employee GROUP BY city ORDER BY n DESC",
         "SELECT city, COUNT(*) AS n FROM employee GROUP BY city ORDER BY n DESC LIMIT 5"),
    Case("default_order", "sqlite snowflake", "List the names of all products.",
         "SELECT name FROM product ORDER BY name", "SELECT name FROM product ORDER BY name LIMIT 3"),
    Case("default_order", "postgres duckdb", "List the title of every film.",
         "SELECT title FROM film ORDER BY created_at DESC", "SELECT title FROM film ORDER BY budget, rating",
         {"default_order": ["created_at DESC"]}),
    # safety LIMIT around lambda_min
    Case("safety_limit", COMMON, "List the names of all customers.",
         "SELECT name FROM customer LIMIT 1000", "SELECT name FROM customer LIMIT 999"),
    Case("safety_limit", "sqlite snowflake", "Show the title of all books.",
         "SELECT title FROM book LIMIT 5000", "SELECT title FROM book LIMIT 50"),
    Case("safety_limit", "postgres mysql", "Show the email of all users.",
         "SELECT email FROM users LIMIT 100", "SELECT email FROM users LIMIT 99", LAMBDA),
    Case("safety_limit", "tsql", "List the names of all customers.",
         "SELECT TOP 1000 name FROM customer", "SELECT TOP 10 name FROM customer"),
    # benign filters
    Case("benign_filter", COMMON, "How many users are there?",
         "SELECT COUNT(*) FROM users WHERE is_deleted = 0", "SELECT COUNT(*) FROM users WHERE plan = 'gold'", BENIGN),
    Case("benign_filter", COMMON, "List the email of customers in 'Oslo'.",
         "SELECT email FROM customer WHERE city = 'Oslo' AND tenant_id = 42",
         "SELECT email FROM customer WHERE city = 'Oslo' AND status = 'vip'", TENANT),
    Case("benign_filter", "sqlite postgres", "What is the total amount of orders in 2021?",
         "SELECT SUM(amount) FROM orders WHERE year = 2021 AND is_deleted = 0",
         "SELECT SUM(amount) FROM orders WHERE is_deleted = 0", BENIGN),
    # ILIKE, LIKE and =
    Case("same_pattern", "postgres snowflake duckdb", "How many singers are from 'France'?",
         "SELECT COUNT(*) FROM singer WHERE country ILIKE 'france'", "SELECT COUNT(*) FROM singer WHERE country ILIKE 'spain'"),
    Case("same_pattern", COMMON, "List the name of people in the city 'Paris'.",
         "SELECT name FROM people WHERE city LIKE 'Paris'", "SELECT name FROM people WHERE city NOT LIKE 'Paris'"),
    Case("same_pattern", COMMON, "List the id of clients whose type is 'gold'.",
         "SELECT id FROM client WHERE LOWER(type) = 'gold'", "SELECT id FROM client WHERE LOWER(type) = 'silver'"),
    Case("same_pattern", "sqlite mysql", "Show the title of movies containing 'Star'.",
         "SELECT title FROM movie WHERE title LIKE '%Star%'", "SELECT title FROM movie WHERE title LIKE '%Moon%'"),
    # alias chains
    Case("alias_chain", COMMON, "Which city has the most shops?",
         "SELECT city FROM (SELECT x.city AS city, COUNT(*) AS n FROM (SELECT location_city AS city FROM shop) AS x GROUP BY x.city) AS y ORDER BY n DESC LIMIT 1",
         "SELECT city FROM (SELECT x.city AS city, COUNT(*) AS n FROM (SELECT location_city AS city FROM shop) AS x GROUP BY x.city) AS y ORDER BY n ASC LIMIT 1"),
    Case("alias_chain", COMMON, "What is the average salary of employees older than 30?",
         "WITH a AS (SELECT salary AS s, age AS g FROM employee), b AS (SELECT s AS t FROM a WHERE g > 30) SELECT AVG(t) FROM b",
         "WITH a AS (SELECT salary AS s, age AS g FROM employee), b AS (SELECT s AS t FROM a WHERE g < 30) SELECT AVG(t) FROM b"),
    Case("alias_chain", "postgres snowflake", "List the name of authors with more than 3 books.",
         "SELECT q.nm FROM (SELECT a.name AS nm, COUNT(b.id) AS c FROM author AS a JOIN book AS b ON a.id = b.author_id GROUP BY a.name) AS q WHERE q.c > 3",
         "SELECT q.nm FROM (SELECT a.name AS nm, COUNT(b.id) AS c FROM author AS a JOIN book AS b ON a.id = b.author_id GROUP BY a.name) AS q WHERE z.c > 3"),
    # window functions
    Case("window", WINDOWS, "What is the name of the employee with the highest salary in each department?",
         "SELECT name FROM (SELECT name, ROW_NUMBER() OVER (PARTITION BY department ORDER BY salary DESC) AS r FROM employee) AS t WHERE r = 1",
         "SELECT name FROM employee"),
    Case("window", WINDOWS, "List the top 3 products by price.",
         "SELECT product FROM (SELECT product, RANK() OVER (ORDER BY price DESC) AS r FROM products) AS t WHERE r <= 3",
         "SELECT product FROM (SELECT product, RANK() OVER (ORDER BY price DESC) AS r FROM products) AS t"),
    Case("window", "snowflake bigquery duckdb", "Show the latest order id of each customer.",
         "SELECT order_id FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY customer ORDER BY order_date DESC) = 1",
         "SELECT order_id FROM orders ORDER BY order_date ASC LIMIT 10"),
    # deep nesting
    Case("deep_nesting", COMMON, "List the name of students who did not take the course 'Math'.",
         "SELECT name FROM student WHERE id NOT IN (SELECT student_id FROM takes WHERE course_id IN (SELECT id FROM course WHERE name IN (SELECT title FROM catalog WHERE title = 'Math')))",
         "SELECT name FROM student WHERE id IN (SELECT student_id FROM takes WHERE course_id IN (SELECT id FROM course WHERE name IN (SELECT title FROM catalog WHERE title = 'Math')))"),
    Case("deep_nesting", COMMON, "What is the name of the shop with the highest rent?",
         "SELECT name FROM shop WHERE rent = (SELECT MAX(rent) FROM (SELECT rent FROM (SELECT rent FROM shop) AS a) AS b)",
         "SELECT name FROM shop WHERE rent = (SELECT MIN(rent) FROM (SELECT rent FROM (SELECT rent FROM shop) AS a) AS b)"),
    Case("deep_nesting", "sqlite duckdb", "How many players have a score above 90?",
         "SELECT COUNT(*) FROM (SELECT * FROM (SELECT * FROM (SELECT player, score FROM games) AS a) AS b) AS c WHERE score > 90",
         "SELECT COUNT(*) FROM (SELECT * FROM (SELECT * FROM (SELECT player, score FROM games) AS a) AS b) AS c WHERE score > 9"),
    # sort direction
    Case("order_direction", COMMON, "List the names of singers in descending order of age.",
         "SELECT name FROM singer ORDER BY age DESC", "SELECT name FROM singer ORDER BY age ASC"),
    Case("order_direction", COMMON, "Show the title of songs in ascending order of length.",
         "SELECT title FROM song ORDER BY length", "SELECT title FROM song ORDER BY length DESC"),
    Case("order_direction", "sqlite snowflake", "List all city names in alphabetical order.",
         "SELECT name FROM city ORDER BY name", "SELECT name FROM city ORDER BY name DESC"),
    Case("order_direction", "postgres mysql", "Show the price of items sorted from highest to lowest.",
         "SELECT price FROM item ORDER BY price DESC", "SELECT price FROM item ORDER BY price"),
    Case("order_missing", COMMON, "List the names of employees sorted by salary.",
         "SELECT name FROM employee ORDER BY salary", "SELECT name FROM employee"),
    # superlatives
    Case("superlative_direction", COMMON, "Which country has the largest population?",
         "SELECT country FROM nations ORDER BY population DESC LIMIT 1", "SELECT country FROM nations ORDER BY population ASC LIMIT 1"),
    Case("superlative_direction", COMMON, "What is the name of the cheapest product?",
         "SELECT name FROM product ORDER BY price LIMIT 1", "SELECT name FROM product ORDER BY price DESC LIMIT 1"),
    Case("superlative_direction", "sqlite postgres", "Which team has the fewest wins?",
         "SELECT team FROM season WHERE wins = (SELECT MIN(wins) FROM season)", "SELECT team FROM season WHERE wins = (SELECT MAX(wins) FROM season)"),
    Case("superlative_missing", COMMON, "What is the name of the tallest building?",
         "SELECT name FROM building ORDER BY height DESC LIMIT 1", "SELECT name FROM building"),
    # top-k
    Case("top_k", COMMON, "List the names of the top 5 players by score.",
         "SELECT name FROM player ORDER BY score DESC LIMIT 5", "SELECT name FROM player ORDER BY score DESC LIMIT 10"),
    Case("top_k", COMMON, "What are the names of the three most populous cities?",
         "SELECT name FROM city ORDER BY population DESC LIMIT 3", "SELECT name FROM city ORDER BY population DESC LIMIT 1"),
    Case("top_k", "sqlite snowflake", "Show the 10 highest salaries.",
         "SELECT salary FROM employee ORDER BY salary DESC LIMIT 10", "SELECT salary FROM employee ORDER BY salary DESC"),
    Case("top_k", "tsql", "List the names of the top 5 players by score.",
         "SELECT TOP 5 name FROM player ORDER BY score DESC", "SELECT TOP 50 name FROM player ORDER BY score DESC"),
    Case("top_k", "postgres mysql", "Which three stores have the most visitors?",
         "SELECT store FROM visits GROUP BY store ORDER BY SUM(visitors) DESC LIMIT 3",
         "SELECT store FROM visits GROUP BY store ORDER BY SUM(visitors) DESC LIMIT 30"),
    # negation
    Case("negation", COMMON, "List the names of customers who are not from 'Spain'.",
         "SELECT name FROM customer WHERE country <> 'Spain'", "SELECT name FROM customer WHERE country = 'Spain'"),
    Case("negation", COMMON, "How many employees never received a bonus?",
         "SELECT COUNT(*) FROM employee WHERE id NOT IN (SELECT employee_id FROM bonus)",
         "SELECT COUNT(*) FROM employee WHERE id IN (SELECT employee_id FROM bonus)"),
    Case("negation", "sqlite postgres", "Show the title of books without a publisher.",
         "SELECT title FROM book WHERE publisher IS NULL", "SELECT title FROM book"),
    Case("negation", "sqlite mysql", "List the names of dogs except those of breed 'Pug'.",
         "SELECT name FROM dog WHERE breed != 'Pug'", "SELECT name FROM dog WHERE breed = 'Pug'"),
    Case("negation", "postgres snowflake", "Which students did not enroll in any course?",
         "SELECT student FROM students EXCEPT SELECT student FROM enrollment", "SELECT student FROM students INTERSECT SELECT student FROM enrollment"),
    # literals and comparisons
    Case("literal", COMMON, "How many flights go to 'Boston'?",
         "SELECT COUNT(*) FROM flight WHERE destination = 'Boston'", "SELECT COUNT(*) FROM flight WHERE destination = 'Austin'"),
    Case("literal", COMMON, "Show the name of hotels in 'New York' with 4 stars.",
         "SELECT name FROM hotel WHERE city = 'New York' AND stars = 4", "SELECT name FROM hotel WHERE stars = 4"),
    Case("comparison", COMMON, "List the name of cars with more than 200 horsepower.",
         "SELECT name FROM car WHERE horsepower > 200", "SELECT name FROM car WHERE horsepower < 200"),
    Case("comparison", COMMON, "How many cities have at least 100000 inhabitants?",
         "SELECT COUNT(*) FROM city WHERE inhabitants >= 100000", "SELECT COUNT(*) FROM city WHERE inhabitants <= 100000"),
    Case("comparison", "sqlite snowflake", "Show the id of orders between 100 and 500 dollars.",
         "SELECT id FROM orders WHERE dollars BETWEEN 100 AND 500", "SELECT id FROM orders WHERE dollars > 900"),
    Case("date", COMMON, "How many orders were placed on October 8, 2019?",
         "SELECT COUNT(*) FROM orders WHERE placed_on = '2019-10-08'", "SELECT COUNT(*) FROM orders WHERE placed_on = '2018-10-09'"),
    Case("number_words", COMMON, "List the name of authors with more than twenty books.",
         "SELECT name FROM author WHERE books > 20", "SELECT name FROM author WHERE books > 2"),
    # projections
    Case("projection", COMMON, "What is the email of all customers?",
         "SELECT email FROM customer", "SELECT * FROM customer"),
    Case("projection", COMMON, "Show the name and age of all singers.",
         "SELECT name, age FROM singer", "SELECT name, age, country, id FROM singer"),
    Case("projection", "sqlite snowflake", "Show the name, city and phone of each store.",
         "SELECT name, city, phone FROM store", "SELECT name FROM store"),
    # aggregation and distinct
    Case("aggregate", COMMON, "What is the average price of products?",
         "SELECT AVG(price) FROM product", "SELECT price FROM product"),
    Case("aggregate", COMMON, "What is the total weight of all packages?",
         "SELECT SUM(weight) FROM package", "SELECT MAX(weight) FROM package"),
    Case("distinct", COMMON, "How many different countries do singers come from?",
         "SELECT COUNT(DISTINCT country) FROM singer", "SELECT COUNT(country) FROM singer"),
    Case("percentage", "sqlite postgres", "What percentage of users are active?",
         "SELECT SUM(CASE WHEN active = 1 THEN 1 ELSE 0 END) * 100.0 / COUNT(*) FROM users",
         "SELECT COUNT(*) FROM users WHERE active = 1"),
    # the query by itself
    Case("aggregate_in_where", COMMON, "Which customers have more than 5 orders?",
         "SELECT customer FROM orders GROUP BY customer HAVING COUNT(*) > 5",
         "SELECT customer FROM orders WHERE COUNT(*) > 5"),
    Case("unknown_qualifier", COMMON, "List the name of singers older than 40.",
         "SELECT s.name FROM singer AS s WHERE s.age > 40", "SELECT s.name FROM singer AS s WHERE t.age > 40"),
    Case("nested_aggregate", COMMON, "What is the highest number of orders of a customer?",
         "SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM orders GROUP BY customer) AS t",
         "SELECT MAX(COUNT(*)) FROM orders GROUP BY customer"),
    # application rules
    Case("metric", COMMON, "What is the revenue in 2020?",
         "SELECT SUM(amount) FROM sales WHERE year = 2020", "SELECT COUNT(*) FROM sales WHERE year = 2020", REVENUE),
    Case("column_mapping", "sqlite mysql", "How many accounts are in the region 'Prague'?",
         "SELECT COUNT(*) FROM account WHERE A3 = 'Prague'", "SELECT COUNT(*) FROM account WHERE A7 = 'Prague'", REGION),
    Case("value_synonym", COMMON, "How many 'male' clients are there?",
         "SELECT COUNT(*) FROM client WHERE gender = 'M'", "SELECT COUNT(*) FROM client WHERE gender = 'F'", MALE),
    # lateral joins, set operations
    Case("lateral", "postgres", "Show the name of each customer and the amount of the latest order.",
         "SELECT c.name, o.amount FROM customer AS c CROSS JOIN LATERAL (SELECT amount FROM orders WHERE orders.customer_id = c.id ORDER BY day DESC LIMIT 1) AS o",
         "SELECT c.name, o.amount FROM customer AS c CROSS JOIN LATERAL (SELECT amount FROM orders WHERE orders.customer_id = c.id ORDER BY day ASC LIMIT 1) AS o"),
    Case("set_operation", COMMON, "Which cities have a store but not a warehouse?",
         "SELECT city FROM store EXCEPT SELECT city FROM warehouse", "SELECT city FROM store UNION SELECT city FROM warehouse"),
    # an extreme whose end depends on the column
    Case("extreme_of_column", COMMON, "What is the name of the oldest singer?",
         "SELECT name FROM singer ORDER BY age DESC LIMIT 1", "SELECT name FROM singer ORDER BY age ASC LIMIT 1"),
    Case("extreme_of_column", COMMON, "Who is the oldest employee?",
         "SELECT name FROM employee ORDER BY birth_date ASC LIMIT 1", "SELECT name FROM employee ORDER BY birth_date DESC LIMIT 1"),
    Case("extreme_of_column", "sqlite tsql", "Show the name of the youngest player.",
         "SELECT name FROM player WHERE age = (SELECT MIN(age) FROM player)", "SELECT name FROM player WHERE age = (SELECT MAX(age) FROM player)"),
    Case("extreme_of_column", "postgres snowflake", "Which patient is the youngest?",
         "SELECT name FROM patient ORDER BY date_of_birth DESC LIMIT 1", "SELECT name FROM patient ORDER BY date_of_birth LIMIT 1"),
    Case("extreme_of_column", COMMON, "Which runner is the fastest?",
         "SELECT name FROM runner ORDER BY finish_time ASC LIMIT 1", "SELECT name FROM runner ORDER BY finish_time DESC LIMIT 1"),
    Case("extreme_of_column", "sqlite mysql", "What is the fastest car?",
         "SELECT model FROM car ORDER BY top_speed DESC LIMIT 1", "SELECT model FROM car ORDER BY top_speed LIMIT 1"),
    Case("extreme_of_column", "sqlite bigquery", "What is the title of the newest book?",
         "SELECT title FROM book ORDER BY published_at DESC LIMIT 1", "SELECT title FROM book ORDER BY published_at ASC LIMIT 1"),
    Case("extreme_of_column", COMMON, "What is the oldest building in the city?",
         "SELECT name FROM building ORDER BY year_built LIMIT 1", "SELECT name FROM building ORDER BY year_built DESC LIMIT 1"),
    Case("extreme_of_column", "postgres duckdb", "List the three youngest students.",
         "SELECT name FROM student ORDER BY age LIMIT 3", "SELECT name FROM student ORDER BY age DESC LIMIT 3"),
    Case("extreme_of_column", "sqlite mysql", "Show the most recent order.",
         "SELECT id FROM orders ORDER BY order_date DESC LIMIT 1", "SELECT id FROM orders ORDER BY order_date LIMIT 1"),
    # top-k by a column
    Case("top_k_order", COMMON, "List the top 5 products by price.",
         "SELECT name FROM product ORDER BY price DESC LIMIT 5", "SELECT name FROM product ORDER BY price ASC LIMIT 5"),
    Case("top_k_order", COMMON, "List the top 5 products by price.",
         "SELECT name FROM product ORDER BY price DESC LIMIT 5", "SELECT name FROM product LIMIT 5"),
    Case("top_k_order", "sqlite tsql", "Show the bottom 3 stores by revenue.",
         "SELECT name FROM store ORDER BY revenue LIMIT 3", "SELECT name FROM store ORDER BY revenue DESC LIMIT 3"),
    Case("top_k_order", COMMON, "Show the three cheapest products.",
         "SELECT name FROM product ORDER BY price LIMIT 3", "SELECT name FROM product ORDER BY price DESC LIMIT 3"),
    Case("top_k_order", "postgres mysql", "What are the 4 highest rated movies?",
         "SELECT title FROM movie ORDER BY rating DESC LIMIT 4", "SELECT title FROM movie LIMIT 4"),
    Case("top_k_order", "sqlite snowflake", "Who are the top ten customers by total spending?",
         "SELECT customer FROM orders GROUP BY customer ORDER BY SUM(spending) DESC LIMIT 10",
         "SELECT customer FROM orders GROUP BY customer ORDER BY SUM(spending) LIMIT 10"),
    # states said by an adjective
    Case("state", COMMON, "How many active users are there?",
         "SELECT COUNT(*) FROM users WHERE active = 1", "SELECT COUNT(*) FROM users"),
    Case("state", COMMON, "How many active users are there?",
         "SELECT COUNT(*) FROM users WHERE status = 'active'", "SELECT COUNT(*) FROM users WHERE status = 'inactive'"),
    Case("state", COMMON, "List the names of active users.",
         "SELECT name FROM users WHERE is_active = 1", "SELECT name FROM users WHERE is_active = 0"),
    Case("state", "postgres duckdb", "List the email of verified members.",
         "SELECT email FROM member WHERE verified", "SELECT email FROM member WHERE NOT verified"),
    Case("state", "sqlite mysql", "Show the id of cancelled orders.",
         "SELECT id FROM orders WHERE status = 'cancelled'", "SELECT id FROM orders WHERE status <> 'cancelled'"),
    Case("state", "sqlite postgres", "How many invoices are unpaid?",
         "SELECT COUNT(*) FROM invoice WHERE paid = 0", "SELECT COUNT(*) FROM invoice WHERE paid = 1"),
    Case("state", "sqlite postgres", "List the titles of tasks that are completed.",
         "SELECT title FROM task WHERE completed = 1", "SELECT title FROM task"),
    Case("state", COMMON, "How many users are not active?",
         "SELECT COUNT(*) FROM users WHERE active = 0", "SELECT COUNT(*) FROM users WHERE active = 1"),
    # the absence of something
    Case("absence", COMMON, "List the titles of songs without lyrics.",
         "SELECT title FROM song WHERE lyrics IS NULL", "SELECT title FROM song WHERE lyrics IS NOT NULL"),
    Case("absence", COMMON, "Show the names of employees who have no manager.",
         "SELECT name FROM employee WHERE manager_id IS NULL", "SELECT name FROM employee WHERE manager_id IS NOT NULL"),
    Case("absence", "sqlite mysql", "Which customers have an email address?",
         "SELECT name FROM customer WHERE email IS NOT NULL", "SELECT name FROM customer WHERE email IS NULL"),
    Case("absence", "postgres snowflake", "How many orders lack a shipping date?",
         "SELECT COUNT(*) FROM orders WHERE shipping_date IS NULL", "SELECT COUNT(*) FROM orders WHERE shipping_date IS NOT NULL"),
    Case("absence", COMMON, "List the names of customers who never placed an order.",
         "SELECT name FROM customer WHERE id NOT IN (SELECT customer_id FROM orders)",
         "SELECT name FROM customer WHERE id IN (SELECT customer_id FROM orders)"),
    Case("absence", COMMON, "Which customers never placed an order?",
         "SELECT c.name FROM customer AS c LEFT JOIN orders AS o ON c.id = o.customer_id WHERE o.id IS NULL",
         "SELECT c.name FROM customer AS c LEFT JOIN orders AS o ON c.id = o.customer_id WHERE NOT o.id IS NULL"),
    Case("absence", "sqlite postgres", "Which customers never placed an order?",
         "SELECT name FROM customer AS c WHERE NOT EXISTS (SELECT 1 FROM orders AS o WHERE o.customer_id = c.id)",
         "SELECT name FROM customer AS c WHERE EXISTS (SELECT 1 FROM orders AS o WHERE o.customer_id = c.id)"),
    # patterns
    Case("pattern", COMMON, "List the names of cities that start with 'A'.",
         "SELECT name FROM city WHERE name LIKE 'A%'", "SELECT name FROM city WHERE name LIKE '%A'"),
    Case("pattern", COMMON, "List the names of cities that start with A.",
         "SELECT name FROM city WHERE name LIKE 'A%'", "SELECT name FROM city WHERE name LIKE '%A%'"),
    Case("pattern", "sqlite postgres", "Which products have a code ending in 'X'?",
         "SELECT name FROM product WHERE code LIKE '%X'", "SELECT name FROM product WHERE code LIKE 'X%'"),
    Case("pattern", "sqlite mysql", "Show the title of films beginning with the letter M.",
         "SELECT title FROM film WHERE title LIKE 'M%'", "SELECT title FROM film WHERE title = 'M'"),
    Case("pattern", "postgres snowflake", "How many songs have a title that contains the word 'love'?",
         "SELECT COUNT(*) FROM song WHERE title ILIKE '%love%'", "SELECT COUNT(*) FROM song WHERE title ILIKE 'love%'"),
    Case("pattern", "sqlite mysql", "List employees whose last name starts with 'Mc'.",
         "SELECT name FROM employee WHERE last_name LIKE 'Mc%'", "SELECT name FROM employee WHERE last_name NOT LIKE 'Mc%'"),
    # the function and what it is of
    Case("aggregate_function", COMMON, "What is the number of orders of each customer?",
         "SELECT customer, COUNT(*) FROM orders GROUP BY customer", "SELECT customer, SUM(amount) FROM orders GROUP BY customer"),
    Case("aggregate_function", COMMON, "How many orders were placed in 2020?",
         "SELECT COUNT(*) FROM orders WHERE year = 2020", "SELECT SUM(price) FROM orders WHERE year = 2020"),
    Case("aggregate_function", COMMON, "What is the total salary of all employees?",
         "SELECT SUM(salary) FROM employee", "SELECT COUNT(salary) FROM employee"),
    Case("aggregate_function", "sqlite postgres", "What is the average salary of employees?",
         "SELECT AVG(salary) FROM employee", "SELECT SUM(salary) FROM employee"),
    Case("aggregate_function", "sqlite mysql", "What is the minimum price of a product?",
         "SELECT MIN(price) FROM product", "SELECT MAX(price) FROM product"),
    Case("aggregate_of_other", COMMON, "What is the average age of singers?",
         "SELECT AVG(age) FROM singer", "SELECT AVG(salary) FROM singer"),
    Case("aggregate_of_other", COMMON, "What is the total weight of all packages?",
         "SELECT SUM(weight) FROM package", "SELECT SUM(price) FROM package"),
    Case("aggregate_of_other", "sqlite bigquery", "What is the maximum capacity of the stadiums in each city?",
         "SELECT city, MAX(capacity) FROM stadium GROUP BY city", "SELECT city, MAX(opening_year) FROM stadium GROUP BY city"),
    # another value than the one asked for, or none
    Case("value", COMMON, "List the names of singers who are not from France.",
         "SELECT name FROM singer WHERE country <> 'France'", "SELECT name FROM singer WHERE country <> 'Spain'"),
    Case("value", COMMON, "How many singers are from France?",
         "SELECT COUNT(*) FROM singer WHERE country = 'France'", "SELECT COUNT(*) FROM singer"),
    Case("value", COMMON, "How many customers live in Berlin?",
         "SELECT COUNT(*) FROM customer WHERE city = 'Berlin'", "SELECT COUNT(*) FROM customer WHERE city = 'Munich'"),
    Case("value", "sqlite mysql", "Which flights depart from Boston and arrive in Denver?",
         "SELECT flight FROM flights WHERE origin = 'Boston' AND destination = 'Denver'", "SELECT flight FROM flights WHERE origin = 'Boston'"),
    Case("value", "postgres snowflake", "Show the email of customers not living in Rome.",
         "SELECT email FROM customer WHERE city <> 'Rome'", "SELECT email FROM customer WHERE city = 'Rome'"),
    # AND and OR
    Case("connective", COMMON, "List the names of singers from 'France' who are older than 30.",
         "SELECT name FROM singer WHERE country = 'France' AND age > 30", "SELECT name FROM singer WHERE country = 'France' OR age > 30"),
    Case("connective", COMMON, "Show the names of products that cost more than 100 and weigh less than 5.",
         "SELECT name FROM product WHERE cost > 100 AND weight < 5", "SELECT name FROM product WHERE cost > 100 OR weight < 5"),
    Case("connective", COMMON, "List the names of singers from 'France' or 'Spain'.",
         "SELECT name FROM singer WHERE country = 'France' OR country = 'Spain'", "SELECT name FROM singer WHERE country = 'France' AND country = 'Spain'"),
    Case("connective", "sqlite postgres", "Which employees are older than 60 or earn more than 9000?",
         "SELECT name FROM employee WHERE age > 60 OR salary > 9000", "SELECT name FROM employee WHERE age > 60 AND salary > 9000"),
    Case("connective", "sqlite mysql", "How many hotels in 'Rome' have 5 stars?",
         "SELECT COUNT(*) FROM hotel WHERE city = 'Rome' AND stars = 5", "SELECT COUNT(*) FROM hotel WHERE city = 'Rome' OR stars = 5"),
    # comparisons
    Case("comparison", COMMON, "Which employees earn more than 5000?",
         "SELECT name FROM employee WHERE salary > 5000", "SELECT name FROM employee WHERE salary < 5000"),
    Case("comparison", COMMON, "List the names of authors with at least 3 books.",
         "SELECT name FROM author GROUP BY name HAVING COUNT(*) >= 3", "SELECT name FROM author GROUP BY name HAVING COUNT(*) <= 3"),
    Case("comparison", COMMON, "Which departments have at least 3 employees?",
         "SELECT department FROM employee GROUP BY department HAVING COUNT(*) >= 3", "SELECT department FROM employee GROUP BY department HAVING COUNT(*) <= 3"),
    Case("comparison", "sqlite postgres", "Show products with a price of at most 20 dollars.",
         "SELECT name FROM product WHERE price <= 20", "SELECT name FROM product WHERE price >= 20"),
    Case("comparison", "sqlite snowflake", "List the names of employees hired after 2015.",
         "SELECT name FROM employee WHERE hire_year > 2015", "SELECT name FROM employee WHERE hire_year < 2015"),
    Case("comparison", "sqlite mysql", "How many orders were placed before 2019-05-01?",
         "SELECT COUNT(*) FROM orders WHERE placed < '2019-05-01'", "SELECT COUNT(*) FROM orders WHERE placed > '2019-05-01'"),
    Case("comparison", "postgres duckdb", "How many rooms cost less than 80?",
         "SELECT COUNT(*) FROM room WHERE price < 80", "SELECT COUNT(*) FROM room WHERE price = 80"),
    Case("range", COMMON, "List the names of people between 20 and 30 years old.",
         "SELECT name FROM people WHERE age BETWEEN 20 AND 30", "SELECT name FROM people WHERE age BETWEEN 20 AND 50"),
    Case("range", COMMON, "List the names of people between 20 and 30 years old.",
         "SELECT name FROM people WHERE age >= 20 AND age <= 30", "SELECT name FROM people WHERE age >= 20"),
    Case("range", "sqlite mysql", "How many films were released from 1990 to 1999?",
         "SELECT COUNT(*) FROM film WHERE released BETWEEN 1990 AND 1999", "SELECT COUNT(*) FROM film WHERE released <= 1999"),
    Case("range", "sqlite postgres", "Show the id of orders with an amount between 100 and 500.",
         "SELECT id FROM orders WHERE amount BETWEEN 100 AND 500", "SELECT id FROM orders WHERE amount NOT BETWEEN 100 AND 500"),
    # each once
    Case("distinct", COMMON, "List the distinct cities where customers live.",
         "SELECT DISTINCT city FROM customer", "SELECT city FROM customer"),
    Case("distinct", "sqlite mysql", "Show the countries of all singers without duplicates.",
         "SELECT DISTINCT country FROM singer", "SELECT country FROM singer"),
    Case("distinct", COMMON, "How many unique visitors were there?",
         "SELECT COUNT(DISTINCT visitor_id) FROM visit", "SELECT COUNT(visitor_id) FROM visit"),
    Case("distinct", "sqlite postgres", "What are the different types of rooms?",
         "SELECT DISTINCT type FROM room", "SELECT type FROM room"),
    Case("distinct", "sqlite snowflake", "In how many different countries do our customers live?",
         "SELECT COUNT(DISTINCT country) FROM customer", "SELECT COUNT(*) FROM customer"),
    # what no question asks for
    Case("nonsense", COMMON, "How many singers are there?",
         "SELECT COUNT(*) FROM singer", "SELECT COUNT(*) FROM concert"),
    Case("nonsense", COMMON, "How many singers are there?",
         "SELECT COUNT(*) FROM singer", "SELECT COUNT(*) * 2 FROM singer"),
    Case("nonsense", COMMON, "List the names of all singers.",
         "SELECT name FROM singer", "SELECT name FROM singer UNION ALL SELECT name FROM singer"),
    Case("nonsense", COMMON, "List the names of all singers.",
         "SELECT name FROM singer", "SELECT name FROM singer WHERE 1 = 0"),
    Case("nonsense", COMMON, "How many orders does each customer have?",
         "SELECT customer, COUNT(*) FROM orders GROUP BY customer",
         "SELECT customer, COUNT(*) FROM orders GROUP BY customer HAVING COUNT(*) > 1000"),
    Case("nonsense", "sqlite postgres", "List the names of all singers.",
         "SELECT name FROM singer WHERE 1 = 1", "SELECT name FROM singer WHERE FALSE"),
    Case("nonsense", "sqlite mysql", "What is the average price of products?",
         "SELECT AVG(price) FROM product", "SELECT AVG(price) + 10 FROM product"),
    Case("nonsense", "sqlite postgres", "What are the names of the top 5 players by score?",
         "SELECT name FROM player ORDER BY score DESC LIMIT 5", "SELECT name FROM player ORDER BY score DESC LIMIT 5 OFFSET 5"),
    Case("nonsense", "sqlite postgres", "List the names of dogs that weigh more than 20.",
         "SELECT name FROM dog WHERE weight > 20", "SELECT name FROM dog WHERE weight > 20 AND weight < 10"),
)  # fmt: skip


def expanded() -> list[tuple[str, str, str, str, str, dict[str, Any]]]:
    """(rule, dialect, question, right, broken, rules) of every case in each of its dialects."""
    import sqlglot

    table = []
    for case in CASES:
        first, *_ = dialects = case.dialects.split()
        for dialect in dialects:
            right, broken = (
                sql if dialect == first else sqlglot.transpile(sql, read=first, write=dialect)[0]
                for sql in (case.right, case.broken)
            )
            table.append(
                (case.rule, dialect, case.question, right, broken, {**case.rules, "dialect": dialect})
            )
    return table
